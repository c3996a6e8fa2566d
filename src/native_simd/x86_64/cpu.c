/* The x86-64 probe: CPUID and XGETBV.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cpu.h"
#include <cpuid.h>
#include <stdint.h>

/* XCR0, as the instruction's bytes: the intrinsic would need a compile flag of its own. */
static uint64_t xcr0(void) {
    uint32_t lo, hi;
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

static int has(uint32_t reg, unsigned bit) {
    return (int)(reg >> bit & 1);
}

x86_features x86_probe(void) {
    x86_features f = {0, 0, 0, 0};
    unsigned a, b1, c1, d, b7, c7;
    if (!__get_cpuid(1, &a, &b1, &c1, &d))
        return f;
    const int pclmul = has(c1, 1), ssse3 = has(c1, 9), osxsave = has(c1, 27), avx = has(c1, 28);
    if (!pclmul || !ssse3 || !osxsave || !avx)
        return f;
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d))
        return f;
    const uint64_t state = xcr0();
    const int ymm = (state & 0x06) == 0x06, zmm = (state & 0xe6) == 0xe6;
    const int avx2 = has(b7, 5), bmi2 = has(b7, 8), gfni = has(c7, 8), vpclmul = has(c7, 10);
    const int f512 = has(b7, 16), dq = has(b7, 17), bw = has(b7, 30), vl = has(b7, 31), vbmi = has(c7, 1);
    f.avx2 = avx2 && bmi2 && ymm;
    f.vpclmulqdq = f.avx2 && vpclmul;
    f.gfni = f.avx2 && gfni;
    /* What the build lets the compiler use in the *_avx512.c files, all of it. */
    f.avx512 = f.vpclmulqdq && zmm && f512 && dq && bw && vl && vbmi && gfni;
    return f;
}
