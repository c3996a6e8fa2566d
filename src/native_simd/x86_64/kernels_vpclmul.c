/* The AVX2 back end's part for 256-bit VPCLMULQDQ.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cpu.h"
#include "keccak_x86.h"

const sheaf_kernels sheaf_kernels_vpclmul = {
    .name = "avx2",
    .keccak_f1600_x8 = keccak_f1600_x8_avx2,
};
