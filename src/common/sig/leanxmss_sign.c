/* leanXMSS over SHAKE256: key generation and signing.   docs/leanxmss.md 3, 4, 5.   SPDX-License-Identifier:
 * MIT OR Apache-2.0
 *
 * The seed and the chain values below a signature's positions are secret: they reach nothing but the hash, no
 * branch and no address depends on them, and every buffer of this file that held them is wiped. What the
 * number of trials reveals is public (a signature's randomizer belongs to its trial). */
#include "leanxmss.h"
#include "../hash/shake.h"

enum {
    LANES = 8,
    N = 16,                   /* bytes of a digest */
    PREFIX = 32,              /* tweak, P */
    STEP_BYTES = PREFIX + 32, /* value, chain index as 16 bytes */
    LEAF_BYTES = PREFIX + N * LEANXMSS_CHAINS,
    TRIAL_BYTES = PREFIX + 64, /* randomizer: S, message; encoding: message, randomizer, zeros */
    BATCH = 64                 /* tasks of 8 epochs between two reports of progress */
};

/* Eight hash inputs of one length and their 8 outputs. */
typedef struct lanes {
    uint8_t in[LANES][TRIAL_BYTES];
    uint8_t out[LANES][24];
} lanes;

static void lanes_hash(lanes *w, size_t in_len, size_t out_len) {
    const uint8_t *in[LANES];
    uint8_t *out[LANES];
    for (size_t i = 0; i < LANES; i++) {
        in[i] = w->in[i];
        out[i] = w->out[i];
    }
    shake256_x8(out, out_len, in, in_len);
}

/* The secrets of chain chain[i] at epoch epoch[i], i in 0..7, to w->out. */
static void chain_secrets(lanes *w, const leanxmss_key *k, const uint32_t chain[LANES],
                          const uint32_t epoch[LANES]) {
    for (size_t i = 0; i < LANES; i++) {
        leanxmss_tweak(w->in[i], LEANXMSS_TWEAK_SECRET, chain[i], epoch[i]);
        memcpy(w->in[i] + N, k->public_key + N, N);
        memcpy(w->in[i] + PREFIX, k->seed, 32);
    }
    lanes_hash(w, PREFIX + 32, N);
}

/* One step of all eight chains, from position k: w->out to w->out. */
static void chain_steps(lanes *w, const leanxmss_key *key, const uint32_t chain[LANES],
                        const uint32_t epoch[LANES], uint32_t k) {
    for (size_t i = 0; i < LANES; i++) {
        uint8_t *in = w->in[i];
        leanxmss_tweak(in, LEANXMSS_TWEAK_STEP, k, epoch[i]);
        memcpy(in + N, key->public_key + N, N);
        memcpy(in + PREFIX, w->out[i], N);
        memset(in + PREFIX + N, 0, N);
        in[PREFIX + N] = (uint8_t)chain[i];
    }
    lanes_hash(w, STEP_BYTES, N);
}

/* ---- key generation ---- */

uint64_t leanxmss_key_nodes_bytes(unsigned log_count) {
    return ((UINT64_C(2) << log_count) - 1) * N;
}

/* Level l of the subtree, l in 0..log_count. */
static uint8_t *level_nodes(const leanxmss_key *k, unsigned l) {
    uint64_t all = UINT64_C(2) << k->log_count;
    return k->nodes + (size_t)(all - (all >> l)) * N;
}

typedef struct leaf_job {
    leanxmss_key *k;
    size_t first_task;
} leaf_job;

/* The leaves of 8 epochs. Past a subtree of fewer the lanes repeat its epochs. */
static void leaves_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const leaf_job *job = ctx;
    const leanxmss_key *k = job->k;
    uint64_t count = UINT64_C(1) << k->log_count, base = (uint64_t)(job->first_task + task) * LANES;
    lanes w;
    uint8_t leaf_in[LANES][LEAF_BYTES];
    uint32_t chain[LANES], epoch[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        epoch[i] = k->first + (uint32_t)((base + i) & (count - 1));
        leanxmss_tweak(leaf_in[i], LEANXMSS_TWEAK_LEAF, 0, epoch[i]);
        memcpy(leaf_in[i] + N, k->public_key + N, N);
    }
    for (uint32_t c = 0; c < LEANXMSS_CHAINS; c++) {
        for (size_t i = 0; i < LANES; i++)
            chain[i] = c;
        chain_secrets(&w, k, chain, epoch);
        for (uint32_t step = 0; step < 7; step++)
            chain_steps(&w, k, chain, epoch, step);
        for (size_t i = 0; i < LANES; i++)
            memcpy(leaf_in[i] + PREFIX + N * (size_t)c, w.out[i], N);
    }
    const uint8_t *in[LANES];
    uint8_t *out[LANES];
    for (size_t i = 0; i < LANES; i++) {
        in[i] = leaf_in[i];
        out[i] = w.out[i];
    }
    shake256_x8(out, N, in, LEAF_BYTES);
    for (size_t i = 0; i < LANES && base + i < count; i++)
        memcpy(k->nodes + (size_t)(base + i) * N, w.out[i], N);
    secure_wipe(&w, sizeof w);
}

/* P, and the siblings above the subtree. */
static void derive_parameter(uint8_t p[N], const uint8_t seed[32]) {
    uint8_t tweak[16];
    const uint8_t zero[N] = {0};
    leanxmss_tweak(tweak, LEANXMSS_TWEAK_PARAMETER, 0, 0);
    leanxmss_hash(p, N, tweak, zero, seed, 32);
}

static void derive_sibling(uint8_t out[N], const leanxmss_key *k, unsigned level) {
    uint8_t tweak[16];
    leanxmss_tweak(tweak, LEANXMSS_TWEAK_FILLER, level, (k->first >> level) ^ 1);
    leanxmss_hash(out, N, tweak, k->public_key + N, k->seed, 32);
}

/* The root above the subtree's top node. */
static void climb(uint8_t root[N], const leanxmss_key *k) {
    memcpy(root, level_nodes(k, k->log_count), N);
    for (unsigned l = k->log_count; l < LEANXMSS_HEIGHT; l++) {
        const uint8_t *sibling = k->siblings[l - k->log_count];
        uint32_t parent = (uint32_t)((uint64_t)k->first >> (l + 1));
        if (k->first >> l & 1)
            leanxmss_node(root, k->public_key + N, l + 1, parent, sibling, root);
        else
            leanxmss_node(root, k->public_key + N, l + 1, parent, root, sibling);
    }
}

static int aligned(uint32_t first, unsigned log_count) {
    return log_count <= LEANXMSS_HEIGHT && (first & ((UINT64_C(1) << log_count) - 1)) == 0;
}

static sheaf_status grow_leaves(leanxmss_key *k, env *e) {
    uint64_t tasks = ((UINT64_C(1) << k->log_count) + LANES - 1) / LANES;
    for (uint64_t done = 0; done < tasks; done += BATCH) {
        if (e != NULL && env_progress(e, (double)done / (double)tasks, "keygen") != 0)
            return SHEAF_CANCELLED;
        leaf_job job = {k, (size_t)done};
        size_t now = (size_t)(tasks - done < BATCH ? tasks - done : BATCH);
        pool_run(e != NULL ? e->pool : NULL, now, leaves_task, &job);
    }
    return SHEAF_OK;
}

sheaf_status leanxmss_keygen(leanxmss_key *k, env *e, const uint8_t seed[32], uint32_t first,
                             unsigned log_count) {
    memset(k, 0, sizeof *k);
    if (!aligned(first, log_count))
        return SHEAF_EPOCH_RANGE;
    uint64_t bytes = leanxmss_key_nodes_bytes(log_count);
    if (bytes > SIZE_MAX)
        return SHEAF_OUT_OF_MEMORY;
    mem *m = e != NULL ? e->mem : NULL;
    k->nodes = mem_alloc(m, (size_t)bytes);
    if (k->nodes == NULL)
        return SHEAF_OUT_OF_MEMORY;
    memcpy(k->seed, seed, sizeof k->seed);
    k->first = first;
    k->log_count = log_count;
    derive_parameter(k->public_key + N, seed);

    sheaf_status status = grow_leaves(k, e);
    if (status != SHEAF_OK) {
        leanxmss_key_wipe(k, m);
        return status;
    }
    for (unsigned l = 0; l < log_count; l++) {
        const uint8_t *children = level_nodes(k, l);
        uint8_t *parents = level_nodes(k, l + 1);
        uint64_t n = UINT64_C(1) << (log_count - l - 1);
        uint32_t index = (uint32_t)((uint64_t)first >> (l + 1));
        for (uint64_t i = 0; i < n; i++) {
            const uint8_t *pair = children + 2 * N * (size_t)i;
            leanxmss_node(parents + N * (size_t)i, k->public_key + N, l + 1, index + (uint32_t)i, pair,
                          pair + N);
        }
    }
    for (unsigned l = log_count; l < LEANXMSS_HEIGHT; l++)
        derive_sibling(k->siblings[l - log_count], k, l);
    climb(k->public_key, k);
    if (e != NULL && env_progress(e, 1.0, "keygen") != 0) {
        leanxmss_key_wipe(k, m);
        return SHEAF_CANCELLED;
    }
    return SHEAF_OK;
}

int leanxmss_key_check(const leanxmss_key *k) {
    if (!aligned(k->first, k->log_count))
        return -1;
    uint8_t digest[N];
    derive_parameter(digest, k->seed);
    int bad = memcmp(digest, k->public_key + N, N) != 0;
    for (unsigned l = k->log_count; l < LEANXMSS_HEIGHT; l++) {
        derive_sibling(digest, k, l);
        bad |= memcmp(digest, k->siblings[l - k->log_count], N) != 0;
    }
    climb(digest, k);
    bad |= memcmp(digest, k->public_key, N) != 0;
    return bad ? -1 : 0;
}

void leanxmss_key_wipe(leanxmss_key *k, mem *m) {
    mem_free(m, k->nodes); /* public: every node may appear in a signature */
    secure_wipe(k, sizeof *k);
}

/* ---- signing ---- */

/* The first trial whose encoding is valid: its randomizer, positions and number. -1 where there is none. */
static int find_randomizer(uint8_t randomizer[24], uint8_t positions[LEANXMSS_CHAINS], uint32_t *trial,
                           const leanxmss_key *k, uint32_t epoch, const uint8_t message[32]) {
    const uint8_t *p = k->public_key + N;
    lanes random, code;
    int found = -1;
    memset(code.in, 0, sizeof code.in);
    for (size_t i = 0; i < LANES; i++) {
        memcpy(random.in[i] + N, p, N);
        memcpy(random.in[i] + PREFIX, k->seed, 32);
        memcpy(random.in[i] + PREFIX + 32, message, 32);
        leanxmss_tweak(code.in[i], LEANXMSS_TWEAK_ENCODING, 0, epoch);
        memcpy(code.in[i] + N, p, N);
        memcpy(code.in[i] + PREFIX, message, 32);
    }
    for (uint64_t a = 0; found != 0 && a <= UINT32_MAX; a += LANES) {
        for (size_t i = 0; i < LANES; i++)
            leanxmss_tweak(random.in[i], LEANXMSS_TWEAK_RANDOMIZER, (uint32_t)(a + i), epoch);
        lanes_hash(&random, TRIAL_BYTES, 24);
        for (size_t i = 0; i < LANES; i++)
            memcpy(code.in[i] + PREFIX + 32, random.out[i], 24);
        lanes_hash(&code, TRIAL_BYTES, N);
        for (size_t i = 0; found != 0 && i < LANES; i++) {
            found = leanxmss_positions(positions, code.out[i]);
            if (found == 0) {
                memcpy(randomizer, random.out[i], 24);
                *trial = (uint32_t)(a + i);
            }
        }
    }
    secure_wipe(&random, sizeof random);
    secure_wipe(&code, sizeof code);
    return found;
}

/* The chain values at their positions: eight chains at a time, as far as the furthest of them goes. */
static void open_chains(uint8_t *values, const leanxmss_key *k, uint32_t epoch,
                        const uint8_t positions[LEANXMSS_CHAINS]) {
    lanes w;
    for (uint32_t c = 0; c < LEANXMSS_CHAINS; c += LANES) {
        uint32_t chain[LANES], epochs[LANES], last = 0;
        for (uint32_t i = 0; i < LANES; i++) {
            chain[i] = c + i < LEANXMSS_CHAINS ? c + i : LEANXMSS_CHAINS - 1;
            epochs[i] = epoch;
            if (positions[chain[i]] > last)
                last = positions[chain[i]];
        }
        chain_secrets(&w, k, chain, epochs);
        for (uint32_t step = 0;; step++) {
            for (size_t i = 0; i < LANES; i++)
                if (positions[chain[i]] == step)
                    memcpy(values + N * (size_t)chain[i], w.out[i], N);
            if (step == last)
                break;
            chain_steps(&w, k, chain, epochs, step);
        }
    }
    secure_wipe(&w, sizeof w);
}

sheaf_status leanxmss_sign(uint8_t signature[LEANXMSS_SIGNATURE_BYTES], const leanxmss_key *k, uint32_t epoch,
                           const uint8_t message[32], uint32_t *trials) {
    memset(signature, 0, LEANXMSS_SIGNATURE_BYTES);
    if (!aligned(k->first, k->log_count))
        return SHEAF_INVALID_ARGUMENT;
    if (epoch < k->first || (uint64_t)(epoch - k->first) >> k->log_count != 0)
        return SHEAF_EPOCH_RANGE;
    uint8_t positions[LEANXMSS_CHAINS];
    uint8_t *randomizer = signature + N * LEANXMSS_CHAINS, *siblings = randomizer + 24;
    uint32_t trial = 0;
    if (find_randomizer(randomizer, positions, &trial, k, epoch, message) != 0)
        return SHEAF_UNSUPPORTED;
    open_chains(signature, k, epoch, positions);
    uint32_t index = epoch - k->first;
    for (unsigned l = 0; l < LEANXMSS_HEIGHT; l++) {
        const uint8_t *sibling = l < k->log_count ? level_nodes(k, l) + N * ((size_t)(index >> l) ^ 1)
                                                  : k->siblings[l - k->log_count];
        memcpy(siblings + N * (size_t)l, sibling, N);
    }
    if (trials != NULL)
        *trials = trial;
    return SHEAF_OK;
}
