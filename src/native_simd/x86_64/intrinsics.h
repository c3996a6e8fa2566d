/* The x86 intrinsics, or their emulation.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * With SHEAF_SIMDE defined, instructions that the compiler was not told of come from the SIMDe headers, so that the AVX-512
 * kernels can be tested where no machine has them: compile with -mavx2 -mpclmul and without any -mavx512 option. */
#ifndef SHEAF_INTRINSICS_H
#define SHEAF_INTRINSICS_H

#ifdef SHEAF_SIMDE
/* Emulated 512-bit values in inline functions: their calling convention concerns nobody. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/clmul.h>
#include <simde/x86/gfni.h>
#else
#include <immintrin.h>
#endif

#endif
