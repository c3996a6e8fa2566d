/* Keccak layers, proving: the states.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "layers_prover.h"
#include "slice.h"

unsigned layers_bit_rounds(layers_shape sh) {
    unsigned log_instances = sh.m + ceil_log2(sh.rows);
    const unsigned t = log_instances >= 12 ? 5 : log_instances >= 9 ? 4 : 3;
    return t < sh.m ? t : sh.m;
}

typedef struct trace_job {
    layers_trace *t;
    const lane_input *inputs;
} trace_job;

/* A state's rows to their places in a layer's bits, and from there. */
static void put_state(const layers_trace *t, uint8_t *bits, size_t b, size_t low, const uint8_t *state) {
    for (unsigned l = 0; l < 25; l++)
        memcpy(bits + layers_bits_at(t, b, l, low), state + 64 * l, 64);
}
static void get_state(const layers_trace *t, uint8_t *state, const uint8_t *bits, size_t b, size_t low) {
    for (unsigned l = 0; l < 25; l++)
        memcpy(state + 64 * l, bits + layers_bits_at(t, b, l, low), 64);
}

static void trace_block(void *ctx, size_t b, unsigned worker) {
    (void)worker;
    const trace_job *job = ctx;
    layers_trace *t = job->t;
    const sheaf_kernels *kn = kernels();
    uint8_t a[STATE_BYTES], e[STATE_BYTES];
    for (size_t low = 0; low < (size_t)1 << t->t; low++) {
        for (unsigned l = 0; l < 25; l++) {
            uint64_t w[8];
            for (unsigned j = 0; j < 8; j++) {
                size_t k, h;
                if (8 * b + j >= t->primes) {
                    w[j] = 0;
                    continue;
                }
                layers_prime(t, 8 * b + j, &k, &h);
                const lane_input *in = &job->inputs[25 * k + l];
                w[j] = in->words ? in->words[(h << t->t) + low] : in->value;
            }
            slice_words(a + 64 * l, w);
        }
        for (unsigned r = 0;; r++) {
            kn->sliced_linear(e, a);
            if (r % SEGMENT == 0)
                put_state(t, t->checkpoint[r / SEGMENT], b, low, e);
            if (r == SEGMENT * (CHECKPOINTS - 1))
                break;
            kn->sliced_chi(a, e, r);
        }
    }
}

void layers_trace_shape(layers_trace *t, layers_shape sh, size_t distinct, unsigned bit_rounds) {
    t->sh = sh;
    t->t = bit_rounds ? bit_rounds : layers_bit_rounds(sh);
    t->s_high = (size_t)1 << (sh.m - t->t);
    /* in fours, which are what the first rounds on E take together */
    t->s_live = round_up(((distinct - 1) >> t->t) + 1, 4);
    t->repeats = t->s_live < t->s_high;
    if (!t->repeats)
        t->s_live = t->s_high;
    t->primes = sh.rows * (t->s_live + (t->repeats ? 1 : 0));
    t->blocks = (t->primes + 7) / 8;
    t->layer_bytes = (t->blocks << t->t) * STATE_BYTES;
}

layers_trace *layers_trace_create(env *e, layers_shape sh, size_t distinct, const lane_input *inputs,
                                  unsigned bit_rounds) {
    layers_trace *t = mem_alloc_zero(e->mem, sizeof *t);
    if (!t)
        return NULL;
    layers_trace_shape(t, sh, distinct, bit_rounds);
    int bad = 0;
    for (unsigned i = 0; i < CHECKPOINTS; i++)
        bad |= !(t->checkpoint[i] = mem_alloc(e->mem, t->layer_bytes));
    for (unsigned i = 0; i + 1 < SEGMENT; i++)
        bad |= !(t->segment[i] = mem_alloc(e->mem, t->layer_bytes));
    if (bad) {
        layers_trace_destroy(e, t);
        return NULL;
    }
    trace_job job = {t, inputs};
    pool_run(e->pool, t->blocks, trace_block, &job);

    uint64_t s[25] = {0};
    for (unsigned r = 0; r < 24; r++) {
        keccak_round_linear_ref(t->dead[r], s);
        keccak_round_chi_ref(s, t->dead[r], r);
    }
    return t;
}

void layers_trace_destroy(env *e, layers_trace *t) {
    if (!t)
        return;
    for (unsigned i = 0; i < CHECKPOINTS; i++)
        mem_free(e->mem, t->checkpoint[i]);
    for (unsigned i = 0; i + 1 < SEGMENT; i++)
        mem_free(e->mem, t->segment[i]);
    mem_free(e->mem, t);
}

void layers_trace_set_plain(layers_trace *t) {
    t->plain = 1;
}

typedef struct segment_job {
    layers_trace *t;
    unsigned first; /* the checkpoint's layer */
} segment_job;

static void segment_block(void *ctx, size_t b, unsigned worker) {
    (void)worker;
    const segment_job *job = ctx;
    layers_trace *t = job->t;
    const sheaf_kernels *kn = kernels();
    uint8_t a[STATE_BYTES], e[STATE_BYTES];
    for (size_t low = 0; low < (size_t)1 << t->t; low++) {
        get_state(t, e, t->checkpoint[job->first / SEGMENT], b, low);
        for (unsigned i = 0; i + 1 < SEGMENT; i++) {
            kn->sliced_chi(a, e, job->first + i);
            kn->sliced_linear(e, a);
            put_state(t, t->segment[i], b, low, e);
        }
    }
}

void layers_states(layers_prover *p, unsigned r) {
    layers_trace *t = p->t;
    if (r % SEGMENT == 0) {
        p->bits = t->checkpoint[r / SEGMENT];
        return;
    }
    if (r % SEGMENT == SEGMENT - 1) {
        env_stage_begin(p->e, "states");
        segment_job job = {t, r / SEGMENT * SEGMENT};
        pool_run(p->e->pool, t->blocks, segment_block, &job);
        env_stage_end(p->e);
    }
    p->bits = t->segment[r % SEGMENT - 1];
}
