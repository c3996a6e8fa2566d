/* What the system's headers are asked for; included before any of them.   SPDX-License-Identifier: MIT OR
 * Apache-2.0
 *
 * POSIX.1-2008 with XSI (realpath), where a program that asks for nothing gets the C library's functions
 * alone. macOS and the BSDs show all that they have to such a program, and hide flock, the number of
 * processors and the like from one that asks. */
#ifndef SHEAF_POSIX_H
#define SHEAF_POSIX_H

#if !defined(__APPLE__) && !defined(__FreeBSD__) && !defined(__NetBSD__) && !defined(__OpenBSD__) &&         \
    !defined(__DragonFly__)
#define _XOPEN_SOURCE 700
#endif
#define _FILE_OFFSET_BITS 64

#endif
