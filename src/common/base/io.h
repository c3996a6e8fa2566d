/* Files, read and written whole.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_IO_H
#define SHEAF_IO_H

#include "base.h"

/* Reads a file, or standard input where the path is "-". A longer one than `most` bytes is SHEAF_MALFORMED,
 * anything else that goes wrong SHEAF_IO or SHEAF_OUT_OF_MEMORY; the failure's message names the file. *data
 * has a terminating zero byte after *len bytes and is for io_free. On failure *data is NULL and *len 0. */
SHEAF_MUST_CHECK sheaf_status io_read(uint8_t **data, size_t *len, const char *path, size_t most,
                                      sheaf_failure *f);
void io_free(uint8_t *data, size_t len); /* wipes it first; NULL is fine */

typedef enum io_write_flags {
    IO_REPLACE = 0, /* a file of that name is replaced */
    IO_NEW = 1,     /* a file of that name is an error, and stays as it is */
    IO_PRIVATE = 2  /* readable by its owner only */
} io_write_flags;

/* Whether io_write could begin with that path: there is its folder, which may be written to, and no folder of
 * that name. What it says is what io_write would say. For work that should not be done in vain. */
SHEAF_MUST_CHECK sheaf_status io_check_write(const char *path, sheaf_failure *f);

/* Writes a file whole: whoever opens the path sees the old bytes or all of the new ones, whenever the machine
 * stops, and once this has returned SHEAF_OK the new ones have reached the disk. A temporary file beside it,
 * synchronised, takes its name; then the folder is synchronised. A symbolic link is followed. "-", and
 * anything that is there and is not a regular file (a pipe, a device), is written to directly. flags:
 * io_write_flags, or-ed. */
SHEAF_MUST_CHECK sheaf_status io_write(const char *path, const void *data, size_t len, unsigned flags,
                                       sheaf_failure *f);

/* fsync, and on macOS, where that leaves the bytes in the disk's own memory, what brings them out of it. 0,
 * or -1 with errno set. */
int io_sync(int fd);

#endif
