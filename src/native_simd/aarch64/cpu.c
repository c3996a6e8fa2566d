/* The arm64 probe: what the target has in any case, and what the system says.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cpu.h"

#if defined(__linux__)
#include <sys/auxv.h>

static void ask_system(arm_features *f) {
    /* Bits of the interface between Linux and programs; not every C library's headers name them. */
    const unsigned long bits = getauxval(AT_HWCAP), pmull = 1ul << 4, sha3 = 1ul << 17;
    f->pmull |= (bits & pmull) != 0;
    f->sha3 |= (bits & sha3) != 0;
}

#elif defined(__APPLE__)
#include <stddef.h>
#include <sys/sysctl.h>

static unsigned char has(const char *name) {
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, NULL, 0) == 0 && value != 0;
}

static void ask_system(arm_features *f) {
    f->pmull |= has("hw.optional.arm.FEAT_PMULL");
    f->sha3 |=
        has("hw.optional.arm.FEAT_SHA3") | has("hw.optional.armv8_2_sha3"); /* the second up to macOS 11 */
}

#else

static void ask_system(arm_features *f) {
    (void)f; /* nothing to ask: what the target has in any case is all */
}

#endif

arm_features arm_probe(void) {
    arm_features f = {0, 0};
    /* What every processor of the compiler's target has. This file is compiled without options of its own. */
#ifdef __ARM_FEATURE_AES
    f.pmull = 1;
#endif
#ifdef __ARM_FEATURE_SHA3
    f.sha3 = 1;
#endif
    ask_system(&f);
    return f;
}
