/* Kernels on rows of 64 bytes, compiled for avx512.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bits_x86.h"
#include "intrinsics.h"
#define BITS(name) name
#define BITS_WIDTH 64
#define BITS_OWN_SLICED_LINEAR
#define BITS_OWN_SLICED_CHI
#include "../../common/bits_kernels.h"

#define XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define CHI(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0xd2) /* a + (1 + b) c */

static inline __m512i row(const uint8_t *rows, unsigned l) {
    return _mm512_loadu_si512((const void *)(rows + 64 * l));
}

static inline void set_row(uint8_t *rows, unsigned l, __m512i v) {
    _mm512_storeu_si512((void *)(rows + 64 * l), v);
}

/* Byte z goes to z + n. The instruction takes of an index its six low bits. */
static inline __m512i turn(__m512i v, unsigned n) {
#define FROM(first) (0x0706050403020100 + (first)*0x0101010101010101)
    const __m512i at =
        _mm512_setr_epi64(FROM(0), FROM(8), FROM(16), FROM(24), FROM(32), FROM(40), FROM(48), FROM(56));
#undef FROM
    return _mm512_permutexvar_epi8(_mm512_sub_epi8(at, _mm512_set1_epi8((char)n)), v);
}

void bits_sliced_linear_avx512(uint8_t *out, const uint8_t *in) {
    __m512i c[5], d[5];
#pragma GCC unroll 5
    for (unsigned x = 0; x < 5; x++)
        c[x] = XOR3(XOR3(row(in, x), row(in, x + 5), row(in, x + 10)), row(in, x + 15), row(in, x + 20));
#pragma GCC unroll 5
    for (unsigned x = 0; x < 5; x++)
        d[x] = turn(c[x], 1);
#define LANE(to, l, r) set_row(out, to, turn(XOR3(row(in, l), c[((l) + 4) % 5], d[((l) + 1) % 5]), r))
    KECCAK_EACH_ROW(KECCAK_ROW_OF_LANES)
}

void bits_sliced_chi_avx512(uint8_t *a, const uint8_t *e, unsigned r) {
    const __m512i constant = _mm512_movm_epi8(keccak_rc[r]);
#pragma GCC unroll 5
    for (unsigned y = 0; y < 5; y++) {
        const __m512i v[5] = {row(e, 5 * y), row(e, 5 * y + 1), row(e, 5 * y + 2), row(e, 5 * y + 3),
                              row(e, 5 * y + 4)};
#pragma GCC unroll 5
        for (unsigned x = 0; x < 5; x++) {
            const __m512i sum = CHI(v[x], v[(x + 1) % 5], v[(x + 2) % 5]);
            set_row(a, x + 5 * y, x + y == 0 ? _mm512_xor_si512(sum, constant) : sum);
        }
    }
}

void bits_grid_chi_avx512(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride,
                          const grid_shape *shape) {
    grid_chi(out, out_stride, from, lane_stride, shape);
}
