/* Witnesses of leanXMSS signatures.   docs/protocol.md 9.2.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "witness.h"
#include "../kernels.h"

enum {
    LANES = WITNESS_LANES,
    RANDOMIZER_AT = 16 * LEANXMSS_CHAINS, /* in a signature */
    SIBLINGS_AT = RANDOMIZER_AT + 24,
    BATCH = 64 /* tasks between two reports of progress */
};

/* ---- the steps ---- */

void witness_lx_read(witness_slot *w, const uint8_t public_key[32],
                     const uint8_t signature[LEANXMSS_SIGNATURE_BYTES], uint32_t epoch) {
    memset(w, 0, sizeof *w);
    for (size_t k = 0; k < 2; k++) {
        w->root[k] = load64_le(public_key + 8 * k);
        w->p[k] = load64_le(public_key + 16 + 8 * k);
    }
    for (size_t k = 0; k < 3; k++)
        w->words[LX_RANDOMIZER + k] = load64_le(signature + RANDOMIZER_AT + 8 * k);
    for (size_t c = 0; c < LEANXMSS_CHAINS; c++)
        for (size_t k = 0; k < 2; k++)
            w->words[LX_START + LX_START_WORDS * c + 1 + k] = load64_le(signature + 16 * c + 8 * k);
    for (size_t t = 0; t < LEANXMSS_HEIGHT; t++) {
        w->right[t] = (uint8_t)(epoch >> t & 1);
        for (size_t k = 0; k < 2; k++)
            w->words[LX_MERKLE + LX_MERKLE_WORDS * t + 2 * (1u - w->right[t]) + k] =
                load64_le(signature + SIBLINGS_AT + 16 * t + 8 * k);
    }
}

/* Eight inputs of one block, all zero but for lanes 0..3 and the padding after `lanes` lanes. */
static void start_block(uint64_t s[8 * LX_LANES], const witness_slot w[LANES], uint64_t lane0, uint64_t lane1,
                        size_t lanes) {
    memset(s, 0, 8 * LX_LANES * sizeof(uint64_t));
    for (size_t i = 0; i < LANES; i++) {
        s[i] = lane0;
        s[8 + i] = lane1;
        s[16 + i] = w[i].p[0];
        s[24 + i] = w[i].p[1];
        s[8 * lanes + i] = LX_PAD_FIRST;
        s[8 * (LX_RATE_LANES - 1) + i] = LX_PAD_LAST;
    }
}

unsigned witness_lx_encode(uint8_t positions[LANES][LEANXMSS_CHAINS], const witness_slot w[LANES],
                           uint32_t epoch, const uint64_t message[4]) {
    _Alignas(64) uint64_t s[8 * LX_LANES];
    start_block(s, w, lx_lane0(LEANXMSS_TWEAK_ENCODING, 0), lx_lane1(epoch), 12);
    for (size_t i = 0; i < LANES; i++) {
        for (size_t k = 0; k < 4; k++)
            s[8 * (4 + k) + i] = message[k];
        for (size_t k = 0; k < 3; k++)
            s[8 * (8 + k) + i] = w[i].words[LX_RANDOMIZER + k];
    }
    kernels()->keccak_f1600_x8(s);
    unsigned bad = 0;
    for (size_t i = 0; i < LANES; i++) {
        uint8_t digest[16];
        store64_le(digest, s[i]);
        store64_le(digest + 8, s[8 + i]);
        if (leanxmss_positions(positions[i], digest) != 0)
            bad |= 1u << i;
    }
    return bad;
}

int witness_lx_plan(witness_slot *w, const uint8_t positions[LEANXMSS_CHAINS]) {
    size_t steps = 0;
    for (size_t c = 0; c < LEANXMSS_CHAINS; c++) {
        if (positions[c] > LX_TABLE)
            return -1;
        steps += LX_TABLE - (size_t)positions[c];
    }
    if (steps != LEANXMSS_STEPS)
        return -1;
    size_t i = 0;
    for (size_t c = 0; c < LEANXMSS_CHAINS; c++) {
        size_t from = c;
        w->words[LX_START + LX_START_WORDS * c] = lx_step_lane(positions[c]);
        for (uint32_t p = positions[c]; p < LX_TABLE; p++) {
            uint64_t *row = w->words + LX_CHAIN + LX_CHAIN_WORDS * i;
            row[2] = lx_step_lane(p);
            row[3] = lx_step_lane(p + 1);
            row[4] = c;
            w->step_from[i] = (uint8_t)from;
            from = LEANXMSS_CHAINS + i++;
        }
        w->end_from[c] = (uint8_t)from;
    }
    return 0;
}

void witness_lx_chains(witness_slot w[LANES], uint32_t epoch) {
    const sheaf_kernels *k = kernels();
    _Alignas(64) uint64_t s[8 * LX_LANES];
    uint64_t out[LEANXMSS_STEPS][2][LANES]; /* of the CHAIN rows */
    for (size_t i = 0; i < LEANXMSS_STEPS; i++) {
        start_block(s, w, 0, lx_lane1(epoch), 8);
        for (size_t n = 0; n < LANES; n++) {
            uint64_t *row = w[n].words + LX_CHAIN + LX_CHAIN_WORDS * i;
            const size_t from = w[n].step_from[i];
            for (size_t v = 0; v < 2; v++) {
                row[v] = from < LEANXMSS_CHAINS ? w[n].words[LX_START + LX_START_WORDS * from + 1 + v]
                                                : out[from - LEANXMSS_CHAINS][v][n];
                s[8 * (4 + v) + n] = row[v];
            }
            s[n] = row[2];
            s[8 * 6 + n] = row[4];
        }
        k->keccak_f1600_x8(s);
        memcpy(out[i][0], s, sizeof out[i][0]);
        memcpy(out[i][1], s + 8, sizeof out[i][1]);
    }
    for (size_t n = 0; n < LANES; n++)
        for (size_t c = 0; c < LEANXMSS_CHAINS; c++)
            for (size_t v = 0; v < 2; v++) {
                const size_t from = w[n].end_from[c];
                w[n].words[LX_END + LX_END_WORDS * c + v] =
                    from < LEANXMSS_CHAINS ? w[n].words[LX_START + LX_START_WORDS * from + 1 + v]
                                           : out[from - LEANXMSS_CHAINS][v][n];
            }
}

/* Message lane `lane` of the LEAF sponge, padding included. */
static uint64_t leaf_lane(const witness_slot *w, uint32_t epoch, size_t lane) {
    switch (lane) {
    case 0:
        return lx_lane0(LEANXMSS_TWEAK_LEAF, 0);
    case 1:
        return lx_lane1(epoch);
    case 2:
    case 3:
        return w->p[lane - 2];
    case LX_LEAF_LANES:
        return LX_PAD_FIRST;
    case LX_RATE_LANES *LX_BLOCKS - 1:
        return LX_PAD_LAST;
    default:
        return lane < LX_LEAF_LANES ? w->words[LX_END + lane - 4] : 0;
    }
}

void witness_lx_path(witness_slot w[LANES], uint32_t epoch) {
    const sheaf_kernels *k = kernels();
    _Alignas(64) uint64_t s[8 * LX_LANES];
    memset(s, 0, sizeof s);
    for (size_t b = 0; b < LX_BLOCKS; b++) {
        for (size_t n = 0; n < LANES; n++) {
            for (size_t l = 0; l < LX_RATE_LANES; l++)
                s[8 * l + n] ^= leaf_lane(&w[n], epoch, LX_RATE_LANES * b + l);
            if (b > 0)
                for (size_t l = 0; l < LX_LANES; l++)
                    w[n].words[LX_LEAF + LX_LANES * (b - 1) + l] = s[8 * l + n];
        }
        k->keccak_f1600_x8(s);
    }
    for (unsigned t = 0; t < LEANXMSS_HEIGHT; t++) {
        uint64_t below[2][LANES];
        memcpy(below[0], s, sizeof below[0]);
        memcpy(below[1], s + 8, sizeof below[1]);
        start_block(s, w, lx_lane0(LEANXMSS_TWEAK_NODE, t + 1), lx_lane1(lx_parent(epoch, t)), 8);
        for (size_t n = 0; n < LANES; n++) {
            uint64_t *row = w[n].words + LX_MERKLE + LX_MERKLE_WORDS * t;
            for (size_t v = 0; v < 2; v++)
                row[2u * w[n].right[t] + v] = below[v][n];
            for (size_t l = 0; l < LX_MERKLE_WORDS; l++)
                s[8 * (4 + l) + n] = row[l];
        }
        k->keccak_f1600_x8(s);
    }
    for (size_t n = 0; n < LANES; n++) {
        w[n].top[0] = s[n];
        w[n].top[1] = s[8 + n];
    }
}

void witness_lx_store(uint64_t *words, size_t signers, size_t s, const witness_slot *w, size_t n) {
    for (size_t j = 0; j < LX_WORDS; j++)
        for (size_t i = 0; i < n; i++)
            words[j * signers + s + i] = w[i].words[j];
}

void witness_lx_multiplicities(uint64_t multiplicities[LX_TABLE], const uint64_t *words, size_t signers) {
    const uint64_t repeats = (UINT64_C(1) << circuit_log_slots(signers)) - signers;
    memset(multiplicities, 0, LX_TABLE * sizeof *multiplicities);
    for (size_t i = 0; i < LEANXMSS_STEPS; i++) {
        const uint64_t *cur = words + (LX_CHAIN + LX_CHAIN_WORDS * i + 2) * signers, *next = cur + signers;
        for (size_t s = 0; s < signers; s++) {
            const uint64_t position = cur[s] >> 32;
            if (position < LX_TABLE && cur[s] == lx_step_lane((uint32_t)position) &&
                next[s] == lx_step_lane((uint32_t)position + 1))
                multiplicities[position] += s + 1 == signers ? 1 + repeats : 1;
        }
    }
}

/* ---- the whole ---- */

typedef struct job {
    uint64_t *words;
    size_t signers;
    const uint8_t *public_keys, *signatures;
    uint32_t epoch;
    uint64_t message[4];
    witness_slot *slots; /* LANES a worker */
    size_t first_task;
    size_t first_bad; /* the lowest signature that does not verify; atomic */
} job;

static void note_bad(job *j, size_t s) {
    size_t seen = __atomic_load_n(&j->first_bad, __ATOMIC_RELAXED);
    while (s < seen &&
           !__atomic_compare_exchange_n(&j->first_bad, &seen, s, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Eight signatures, the last of them repeated where there are fewer. */
static void eight_slots(void *ctx, size_t task, unsigned worker) {
    job *j = ctx;
    witness_slot *w = j->slots + (size_t)worker * LANES;
    const size_t first = (j->first_task + task) * LANES,
                 n = j->signers - first < LANES ? j->signers - first : LANES;
    for (size_t i = 0; i < LANES; i++) {
        const size_t s = first + (i < n ? i : n - 1);
        witness_lx_read(&w[i], j->public_keys + LEANXMSS_PUBLIC_KEY_BYTES * s,
                        j->signatures + LEANXMSS_SIGNATURE_BYTES * s, j->epoch);
    }
    uint8_t positions[LANES][LEANXMSS_CHAINS];
    unsigned bad = witness_lx_encode(positions, w, j->epoch, j->message);
    for (size_t i = 0; i < LANES; i++)
        if ((bad >> i & 1) == 0 && witness_lx_plan(&w[i], positions[i]) != 0)
            bad |= 1u << i;
    witness_lx_chains(w, j->epoch);
    witness_lx_path(w, j->epoch);
    for (size_t i = 0; i < n; i++)
        if ((bad >> i & 1) != 0 || w[i].top[0] != w[i].root[0] || w[i].top[1] != w[i].root[1])
            note_bad(j, first + i);
    witness_lx_store(j->words, j->signers, first, w, n);
}

sheaf_status witness_leanxmss(uint64_t *words, uint64_t *publics, uint64_t multiplicities[LX_TABLE], env *e,
                              size_t signers, const uint8_t *public_keys, const uint8_t *signatures,
                              uint32_t epoch, const uint8_t message[32], sheaf_failure *f) {
    job j = {.words = words,
             .signers = signers,
             .public_keys = public_keys,
             .signatures = signatures,
             .epoch = epoch,
             .slots = mem_alloc(e->mem, (size_t)pool_threads(e->pool) * LANES * sizeof(witness_slot)),
             .first_bad = SIZE_MAX};
    if (j.slots == NULL) {
        failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory for the witness");
        return SHEAF_OUT_OF_MEMORY;
    }
    for (size_t k = 0; k < 4; k++)
        j.message[k] = load64_le(message + 8 * k);

    sheaf_status status = SHEAF_OK;
    const size_t tasks = (signers + LANES - 1) / LANES;
    for (; j.first_task < tasks && j.first_bad == SIZE_MAX; j.first_task += BATCH) {
        if (env_progress(e, (double)j.first_task / (double)tasks, "witness") != 0) {
            failure_set(f, SHEAF_CANCELLED, SHEAF_CHECK_NONE, 0, "cancelled");
            status = SHEAF_CANCELLED;
            break;
        }
        pool_run(e->pool, tasks - j.first_task < BATCH ? tasks - j.first_task : BATCH, eight_slots, &j);
    }
    mem_free(e->mem, j.slots);
    if (status == SHEAF_OK && j.first_bad != SIZE_MAX) {
        failure_set(f, SHEAF_BAD_SIGNATURE, SHEAF_CHECK_NONE, j.first_bad, "signature %zu does not verify",
                    j.first_bad);
        status = SHEAF_BAD_SIGNATURE;
    }
    if (status == SHEAF_OK) {
        circuit_leanxmss_publics(publics, signers, public_keys);
        witness_lx_multiplicities(multiplicities, words, signers);
    }
    return status;
}
