/* Eight Keccak-f[1600] states at once, for x86-64: the entries of the kernel tables; kernels.h says what they
 * do. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_KECCAK_X86_H
#define SHEAF_KECCAK_X86_H

#include <stdint.h>

void keccak_f1600_x8_avx2(uint64_t s[200]);
void keccak_f1600_x8_avx512(uint64_t s[200]);
void keccak_digest_x8_avx2(uint64_t s[200]);
void keccak_digest_x8_avx512(uint64_t s[200]);

#endif
