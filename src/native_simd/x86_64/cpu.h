/* What the processor and the system offer, of what the x86-64 back ends need.   SPDX-License-Identifier: MIT
 * OR Apache-2.0 */
#ifndef SHEAF_X86_CPU_H
#define SHEAF_X86_CPU_H

#include "../../common/kernels.h"

typedef struct x86_features {
    unsigned char avx2;       /* with PCLMULQDQ, BMI2 and the system's support of 256-bit registers */
    unsigned char vpclmulqdq; /* on 256-bit registers, besides avx2 */
    unsigned char gfni;       /* on 256-bit registers, besides avx2 */
    unsigned char
        avx512; /* F, BW, VL, DQ, VBMI, VPCLMULQDQ, GFNI and the system's support of 512-bit registers */
} x86_features;

x86_features x86_probe(void);

/* The part of the AVX2 back end that changes where 256-bit VPCLMULQDQ is there; its other entries are NULL.
 */
extern const sheaf_kernels sheaf_kernels_vpclmul;
/* The same for GFNI. */
extern const sheaf_kernels sheaf_kernels_gfni;

#endif
