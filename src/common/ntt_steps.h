/* Several layers of the additive NTT by a back end's steps of one and of two: one source for back ends that
 * gain nothing from keeping words in registers between steps (include it once, with NTT(name) giving the
 * functions' names). What they do is said in kernels.h.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_NTT_STEPS_H
#define SHEAF_NTT_STEPS_H

#include <string.h>

static void NTT(rows)(uint64_t *to, size_t to_stride, const uint64_t *from, size_t from_stride,
                      const uint64_t *tw, unsigned log, size_t n) {
    for (size_t r = 0; to != from && r < (size_t)1 << log; r++)
        memcpy(to + r * to_stride, from + r * from_stride, n * sizeof *to);
    for (unsigned j = 0, layers; j < log; j += layers) {
        layers = log - j > 1 ? 2 : 1;
        const size_t rows = (size_t)1 << (log - j - layers),
                     apart = rows * to_stride; /* of a half, or of a quarter */
        const size_t calls = to_stride == n ? 1 : rows,
                     words = n * rows / calls; /* rows that follow each other are one */
        for (size_t b = 0; b < (size_t)1 << j; b++)
            for (size_t r = 0; r < calls; r++) {
                const size_t node = ((size_t)1 << j) + b;
                uint64_t *a = to + (b << layers) * apart + r * to_stride;
                if (layers == 2) {
                    const uint64_t t[3] = {tw[node], tw[2 * node], tw[2 * node + 1]};
                    NTT(butterfly4)(a, a + apart, a + 2 * apart, a + 3 * apart, t, words);
                } else {
                    NTT(butterfly)(a, a + apart, tw[node], words);
                }
            }
    }
}

static void NTT(block)(uint64_t *to, const uint64_t *from, const uint64_t *tw, unsigned log) {
    const size_t n = (size_t)1 << log;
    NTT(rows)(to, 8, from, 8, tw, log - 3, 8);
    NTT(tail8)(to, tw + n / 8, tw + n / 4, tw + n / 2, n);
}

#endif
