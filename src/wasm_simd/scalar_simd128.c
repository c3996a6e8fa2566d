/* One product in E.   docs/protocol.md 1.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "kernels_simd128.h"

void gf192_mul_simd128(gf192 *d, const gf192 *a, const gf192 *b) {
    *d = gf192_mul_ref(*a, *b);
}
