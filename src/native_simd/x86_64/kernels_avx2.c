/* The AVX2 back end.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cpu.h"
#include "keccak_x86.h"

const sheaf_kernels sheaf_kernels_avx2 = {
    .name = "avx2",
    .keccak_f1600_x8 = keccak_f1600_x8_avx2,
};
