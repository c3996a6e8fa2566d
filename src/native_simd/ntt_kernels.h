/* Whole blocks of the additive NTT, for one register width.   docs/protocol.md 4.   SPDX-License-Identifier:
 * MIT OR Apache-2.0
 *
 * Included after clmul_kernels.h. Its file may have defined
 *   NTT_TAIL_LOG, ntt_tail(to, from, tw, log)   the last NTT_TAIL_LOG >= 3 layers of a block of 2^log words
 * Three layers at a time go by in registers. A step's blocks are numbered as in a heap, the twiddle of block
 * b of layer j at tw[2^j + b] and those of its halves at twice that. */
#ifndef SHEAF_NTT_KERNELS_H
#define SHEAF_NTT_KERNELS_H

#ifndef NTT_TAIL_LOG
#define NTT_TAIL_LOG 3
static inline void ntt_tail(uint64_t *to, const uint64_t *from, const uint64_t *tw, unsigned log) {
    const size_t n = (size_t)1 << log;
    (void)from; /* is `to`: there have been layers before */
    ntt_tail8(to, tw + n / 8, tw + n / 4, tw + n / 2, n);
}
#endif

#define NTT_INLINE static inline __attribute__((always_inline))

NTT_INLINE void ntt_step1(uint64_t *to, size_t ts, const uint64_t *from, size_t fs, const uint64_t *tw,
                          size_t node, size_t n) {
    const vec t = vec_set1(tw[node]);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec x = vec_load(from + i), y = vec_load(from + fs + i);
        butterfly(&x, &y, t);
        vec_store(to + i, x);
        vec_store(to + ts + i, y);
    }
}

NTT_INLINE void ntt_step2(uint64_t *to, size_t ts, const uint64_t *from, size_t fs, const uint64_t *tw,
                          size_t node, size_t n) {
    const vec t = vec_set1(tw[node]), t0 = vec_set1(tw[2 * node]), t1 = vec_set1(tw[2 * node + 1]);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec x[4];
        for (size_t j = 0; j < 4; j++)
            x[j] = vec_load(from + j * fs + i);
        butterfly(&x[0], &x[2], t);
        butterfly(&x[1], &x[3], t);
        butterfly(&x[0], &x[1], t0);
        butterfly(&x[2], &x[3], t1);
        for (size_t j = 0; j < 4; j++)
            vec_store(to + j * ts + i, x[j]);
    }
}

NTT_INLINE void ntt_step3(uint64_t *to, size_t ts, const uint64_t *from, size_t fs, const uint64_t *tw,
                          size_t node, size_t n) {
    vec t[7];
    t[0] = vec_set1(tw[node]);
    for (size_t j = 0; j < 2; j++)
        t[1 + j] = vec_set1(tw[2 * node + j]);
    for (size_t j = 0; j < 4; j++)
        t[3 + j] = vec_set1(tw[4 * node + j]);
    for (size_t i = 0; i < n; i += VEC_WORDS) {
        vec x[8];
        for (size_t j = 0; j < 8; j++)
            x[j] = vec_load(from + j * fs + i);
        for (size_t j = 0; j < 4; j++)
            butterfly(&x[j], &x[j + 4], t[0]);
        for (size_t h = 0; h < 2; h++)
            for (size_t j = 0; j < 2; j++)
                butterfly(&x[4 * h + j], &x[4 * h + j + 2], t[1 + h]);
        for (size_t h = 0; h < 4; h++)
            butterfly(&x[2 * h], &x[2 * h + 1], t[3 + h]);
        for (size_t j = 0; j < 8; j++)
            vec_store(to + j * ts + i, x[j]);
    }
}

/* How many layers the next step takes, of `left`: threes, and twos before them so that no single layer is
 * left. */
static inline unsigned ntt_step_layers(unsigned left) {
    return left == 1 ? 1 : left % 3 == 0 ? 3 : 2;
}

/* The steps of one group of layers on `blocks` blocks of `rows` rows each, n words a row. */
static void ntt_steps(uint64_t *to, size_t ts, const uint64_t *from, size_t fs, const uint64_t *tw,
                      size_t blocks, size_t rows, unsigned layers, size_t n) {
    const size_t apart = rows >> layers;
    for (size_t b = 0; b < blocks; b++)
        for (size_t r = 0; r < apart; r++) {
            uint64_t *d = to + (b * rows + r) * ts;
            const uint64_t *s = from + (b * rows + r) * fs;
            if (layers == 3)
                ntt_step3(d, apart * ts, s, apart * fs, tw, blocks + b, n);
            else if (layers == 2)
                ntt_step2(d, apart * ts, s, apart * fs, tw, blocks + b, n);
            else
                ntt_step1(d, apart * ts, s, apart * fs, tw, blocks + b, n);
        }
}

#define NTT_TILE_WORDS 2048

/* Rows lie a power of two apart, so that they share few sets of the caches: between the first step and the
 * last, some columns of all of them are in a place of their own. */
static void ntt_rows(uint64_t *to, size_t to_stride, const uint64_t *from, size_t from_stride,
                     const uint64_t *tw, unsigned log, size_t n) {
    _Alignas(64) uint64_t tile[NTT_TILE_WORDS];
    const size_t most = NTT_TILE_WORDS >> log, width = most < n ? most : n;
    for (size_t at = 0; at < n; at += width) {
        const uint64_t *source = from + at;
        size_t stride = from_stride;
        const size_t now = n - at < width ? n - at : width;
        for (unsigned done = 0, layers; done < log; done += layers) {
            layers = ntt_step_layers(log - done);
            const int last = done + layers == log;
            ntt_steps(last ? to + at : tile, last ? to_stride : now, source, stride, tw, (size_t)1 << done,
                      (size_t)1 << (log - done), layers, now);
            source = tile;
            stride = now;
        }
    }
}

static void ntt_block(uint64_t *to, const uint64_t *from, const uint64_t *tw, unsigned log) {
    unsigned done = 0;
    for (unsigned layers; log - done > NTT_TAIL_LOG; done += layers) {
        layers = ntt_step_layers(log - NTT_TAIL_LOG - done);
        const size_t n = (size_t)1 << (log - done - layers);
        ntt_steps(to, n, from, n, tw, (size_t)1 << done, (size_t)1 << layers, layers, n);
        from = to;
    }
    ntt_tail(to, from, tw, log);
}

#endif
