/* Eight words as 64 bytes of bits.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_SLICE_H
#define SHEAF_SLICE_H

#include "../base/base.h"

/* Bit j of out[z] is bit z of w[j]. */
static inline void slice_words(uint8_t out[64], const uint64_t w[8]) {
    for (unsigned byte = 0; byte < 8; byte++) {
        uint64_t v = 0;
        for (unsigned j = 0; j < 8; j++) v |= (w[j] >> (8 * byte) & 0xff) << (8 * j);
        /* 8x8 bit transpose by three rounds of swaps */
        uint64_t s = (v ^ (v >> 7)) & UINT64_C(0x00aa00aa00aa00aa);
        v ^= s ^ (s << 7);
        s = (v ^ (v >> 14)) & UINT64_C(0x0000cccc0000cccc);
        v ^= s ^ (s << 14);
        s = (v ^ (v >> 28)) & UINT64_C(0x00000000f0f0f0f0);
        v ^= s ^ (s << 28);
        store64_le(out + 8 * byte, v);
    }
}

#endif
