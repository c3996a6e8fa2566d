/* What the processor and the system offer, of what the arm64 back end needs.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_ARM_CPU_H
#define SHEAF_ARM_CPU_H

#include "../../common/kernels.h"

typedef struct arm_features { /* besides NEON, which every arm64 processor has */
    unsigned char pmull;      /* PMULL on words of 64 bits */
    unsigned char sha3;       /* EOR3, RAX1, XAR and BCAX */
} arm_features;

arm_features arm_probe(void);

/* What changes of the back end where the processor has these; the other entries are NULL. */
extern const sheaf_kernels sheaf_kernels_pmull;
extern const sheaf_kernels sheaf_kernels_sha3;

#endif
