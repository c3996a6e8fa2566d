/* Makes a program believe that the processor has NEON and nothing beyond it: to be preloaded.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The emulator knows no processor without PMULL, but there are some (Cortex-A72 as in the Raspberry Pi 4). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type) {
    unsigned long (*next)(unsigned long);
    void *found = dlsym(RTLD_NEXT, "getauxval");
    memcpy(&next, &found, sizeof next);
    const unsigned long value = next(type), floating_point_and_neon = 3;
    return type == AT_HWCAP ? value & floating_point_and_neon : value;
}
