/* The arm64 back end's kernels over K and E where there is no PMULL on words, and its tables.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * NEON has always had carry-less products of bytes, eight at a time. With y rotated by d bytes one
 * instruction makes the products x_i y_(i+d) of two words' bytes; these and the x_(i+d) y_i belong at byte
 * 2i + d, and those with i + d >= 8 at byte 2i + d - 8. d = 0, 1, 2, 3 and 4 (for 0 and 4 one kind) are all
 * 64 products. */
#include "neon.h"

#include <arm_neon.h>
#include "cpu.h"

/* Each word rotated right by n bytes. */
static inline uint64x2_t rotate(uint64x2_t a, unsigned n) {
    const uint64_t from = (0x0706050403020100u >> (8 * n)) | (0x0706050403020100u << (64 - 8 * n));
    const uint64x2_t at = vcombine_u64(vcreate_u64(from), vcreate_u64(from | 0x0808080808080808u));
    return vreinterpretq_u64_u8(vqtbl1q_u8(vreinterpretq_u8_u64(a), vreinterpretq_u8_u64(at)));
}

static inline uint64x2_t bytes_mul_lo(uint64x2_t a, uint64x2_t b) {
    const poly8x8_t x = vreinterpret_p8_u64(vget_low_u64(a)), y = vreinterpret_p8_u64(vget_low_u64(b));
    return vreinterpretq_u64_p16(vmull_p8(x, y));
}

static inline uint64x2_t bytes_mul_hi(uint64x2_t a, uint64x2_t b) {
    return vreinterpretq_u64_p16(vmull_high_p8(vreinterpretq_p8_u64(a), vreinterpretq_p8_u64(b)));
}

/* The products at distance d = 1, 2, 3 to their places: the last d of eight eight bytes down, then all up by
 * d. */
static inline uint64x2_t put(uint64x2_t p, unsigned d) {
    const uint64x2_t past =
        vandq_u64(p, vcombine_u64(vcreate_u64(0), vcreate_u64(~(uint64_t)0 << (64 - 16 * d))));
    const uint8x16_t low = vreinterpretq_u8_u64(veorq_u64(past, vextq_u64(past, past, 1)));
    const uint8x16_t placed = veorq_u8(vreinterpretq_u8_u64(p), low), zero = vdupq_n_u8(0);
    switch (d) {
    case 1:
        return vreinterpretq_u64_u8(vextq_u8(zero, placed, 15));
    case 2:
        return vreinterpretq_u64_u8(vextq_u8(zero, placed, 14));
    default:
        return vreinterpretq_u64_u8(vextq_u8(zero, placed, 13));
    }
}

/* At distance 4 each half of the products goes to byte 2i + 4 of the same eight. */
static inline uint64x2_t put4(uint64x2_t p) {
    const int64x2_t places = vcombine_s64(vcreate_s64(32), vcreate_s64((uint64_t)-32));
    return vshlq_u64(veorq_u64(p, vextq_u64(p, p, 1)), places);
}

#define WORD_PRODUCT(mul)                                                                                    \
    do {                                                                                                     \
        const uint64x2_t p1 = veorq_u64(mul(a, rotate(b, 1)), mul(rotate(a, 1), b));                         \
        const uint64x2_t p2 = veorq_u64(mul(a, rotate(b, 2)), mul(rotate(a, 2), b));                         \
        const uint64x2_t p3 = veorq_u64(mul(a, rotate(b, 3)), mul(rotate(a, 3), b));                         \
        const uint64x2_t low = veorq_u64(mul(a, b), put(p1, 1)), high = veorq_u64(put(p2, 2), put(p3, 3));   \
        return veorq_u64(veorq_u64(low, high), put4(mul(a, rotate(b, 4))));                                  \
    } while (0)

static inline uint64x2_t vec_clmul_lo(uint64x2_t a, uint64x2_t b) {
    WORD_PRODUCT(bytes_mul_lo);
}

static inline uint64x2_t vec_clmul_hi(uint64x2_t a, uint64x2_t b) {
    WORD_PRODUCT(bytes_mul_hi);
}

#include "vec_neon.h"

const sheaf_kernels sheaf_kernels_neon = {
    .name = "neon",
    .keccak_f1600_x8 = keccak_f1600_x8_neon,
    VEC_NEON_ENTRIES,
    .bitmap_prepare = bitmap_prepare_neon,
    .bitmap_accumulate = bitmap_accumulate_neon,
    .bitmap_finish = bitmap_finish_neon,
    .bitmap_sum = bitmap_sum_neon,
    .bits_transpose8 = bits_transpose8_neon,
    .sliced_linear = sliced_linear_neon,
    .sliced_chi = sliced_chi_neon,
    .grid_chi = grid_chi_neon,
};

/* What processors with the SHA3 extension do better. */
const sheaf_kernels sheaf_kernels_sha3 = {
    .name = "neon",
    .keccak_f1600_x8 = keccak_f1600_x8_sha3,
#ifdef __APPLE__ /* on other cores one state is quicker in general registers: they have these in one pipe    \
                    only */
    .keccak_f1600 = keccak_f1600_sha3,
#endif
    .bitmap_prepare = bitmap_prepare_neon,
    .bitmap_accumulate = bitmap_accumulate_sha3,
    .bitmap_finish = bitmap_finish_neon,
    .bitmap_sum = bitmap_sum_sha3,
};
