/* Whether code is slow here: on the portable back end, or with sanitizers. Tests that take their time then
 * try fewer places. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_TESTS_SLOW_H
#define SHEAF_TESTS_SLOW_H

#include "t.h"
#include "kernels.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SLOW_SANITIZED 1
#endif
#ifndef SLOW_SANITIZED
#define SLOW_SANITIZED 0
#endif

/* 1 where every place is to be tried, `slow` where code is slow, or what SHEAF_TEST_STRIDE says. */
static T_UNUSED_ size_t slow_stride(size_t slow) {
    const char *asked = getenv("SHEAF_TEST_STRIDE");
    const unsigned long n = asked != NULL ? strtoul(asked, NULL, 10) : 0;
    if (n > 0)
        return n;
    return SLOW_SANITIZED || kernels_isa() == SHEAF_ISA_PORTABLE ? slow : 1;
}

#endif
