/* Sums of images of F2-linear maps, with EOR3.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "neon.h"

#include <arm_neon.h>

#define XOR3(a, b, c) veor3q_u8(a, b, c)
#include "bitmap_neon.h"

BITMAP_KERNELS(sha3)
