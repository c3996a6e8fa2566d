/* Kernels on rows of 64 bytes, compiled for avx2.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A row is two registers. The linear half of a Keccak round rotates each by a constant number of bytes: two
 * exchanges of halves and two VPALIGNR, where reading memory at an odd place would need every row twice. */
#include "bits_x86.h"
#include "intrinsics.h"
#define BITS(name) name
#define BITS_WIDTH 32
#define BITS_OWN_SLICED_LINEAR
#include "../../common/bits_kernels.h"

typedef struct row {
    __m256i lo, hi;
} row;

static inline row row_load(const uint8_t *p) {
    return (row){_mm256_loadu_si256((const __m256i *)(const void *)p),
                 _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))};
}

static inline void row_store(uint8_t *p, row a) {
    _mm256_storeu_si256((__m256i *)(void *)p, a.lo);
    _mm256_storeu_si256((__m256i *)(void *)(p + 32), a.hi);
}

static inline row row_xor(row a, row b) {
    return (row){_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)};
}

/* Quarters q of the row to quarters q + n. */
static inline row row_turned(row a, unsigned n) {
    const row odd = {_mm256_permute2x128_si256(a.hi, a.lo, 0x21),
                     _mm256_permute2x128_si256(a.lo, a.hi, 0x21)};
    const row turned = n % 2 ? odd : a;
    return n % 4 < 2 ? turned : (row){turned.hi, turned.lo};
}

/* Byte z to place z + n, for a constant n. */
#define ROTATED(a, n)                                                                                        \
    ((n) % 16 == 0 ? row_turned(a, (n) / 16)                                                                 \
                   : row_joined(row_turned(a, (n) / 16), row_turned(a, (n) / 16 + 1), 16 - (n) % 16))
/* Of every quarter of a its first n bytes behind the last 16 - n of b's. */
#define row_joined(a, b, n)                                                                                  \
    ((row){_mm256_alignr_epi8((a).lo, (b).lo, (n) % 16), _mm256_alignr_epi8((a).hi, (b).hi, (n) % 16)})

#define LANE(to, l, r) row_store(out + 64 * (to), ROTATED(row_xor(row_load(in + 64 * (l)), d[(l) % 5]), r))

void bits_sliced_linear_avx2(uint8_t *restrict out, const uint8_t *restrict in) {
    row c[5], d[5];
#pragma GCC unroll 5
    for (size_t x = 0; x < 5; x++) {
        c[x] = row_load(in + 64 * x);
#pragma GCC unroll 4
        for (size_t y = 1; y < 5; y++)
            c[x] = row_xor(c[x], row_load(in + 64 * (x + 5 * y)));
    }
#pragma GCC unroll 5
    for (size_t x = 0; x < 5; x++)
        d[x] = row_xor(c[(x + 4) % 5], ROTATED(c[(x + 1) % 5], 1));
    KECCAK_EACH_ROW(KECCAK_ROW_OF_LANES)
}

void bits_sliced_chi_avx2(uint8_t *a, const uint8_t *e, unsigned r) {
    sliced_chi(a, e, r);
}

void bits_grid_chi_avx2(uint8_t *out, size_t out_stride, const uint8_t *from, size_t lane_stride,
                        const grid_shape *shape) {
    grid_chi(out, out_stride, from, lane_stride, shape);
}
