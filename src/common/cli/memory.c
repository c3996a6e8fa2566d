/* How much memory there is, and what does not fit into it.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../base/posix.h"
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "cli.h"

enum { MIB_LOG = 20 };

static uint64_t least_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The number that a file begins with (a group's bound; "max" is none); UINT64_MAX where there is none. */
static uint64_t bound_in(const char *file) {
    unsigned long long bytes;
    FILE *f = fopen(file, "r");
    if (f == NULL)
        return UINT64_MAX;
    int found = fscanf(f, "%19llu", &bytes);
    fclose(f);
    return found == 1 ? bytes : UINT64_MAX;
}

/* What the system says it can still give, swap counted; UINT64_MAX where it does not say. */
static uint64_t free_bytes(void) {
    char line[128];
    unsigned long long kib, sum = 0;
    int lines = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %19llu kB", &kib) == 1 ||
            sscanf(line, "SwapFree: %19llu kB", &kib) == 1) {
            sum += kib;
            lines++;
        }
    if (f != NULL)
        fclose(f);
    return lines == 2 ? 1024 * (uint64_t)sum : UINT64_MAX;
}

static uint64_t machine_bytes(void) {
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        return (uint64_t)pages * (uint64_t)page;
#endif
    return UINT64_MAX;
}

static uint64_t limit_of(int resource) {
    struct rlimit l;
    return getrlimit(resource, &l) == 0 && l.rlim_cur != RLIM_INFINITY ? (uint64_t)l.rlim_cur : UINT64_MAX;
}

/* What proving can have at most: what is free, within the bounds of the process and of its group. */
static uint64_t available_bytes(void) {
    uint64_t bytes = free_bytes();
    if (bytes == UINT64_MAX)
        bytes = machine_bytes();
    bytes = least_of(bytes, limit_of(RLIMIT_DATA));
#ifdef RLIMIT_AS /* OpenBSD has none */
    bytes = least_of(bytes, limit_of(RLIMIT_AS));
#endif
    return least_of(bytes, least_of(bound_in("/sys/fs/cgroup/memory.max"),
                                    bound_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")));
}

int cli_check_memory(const cli *c, uint64_t needed, const char *what, uint64_t count, const char *things) {
    const uint64_t available = c->memory_mib > 0 ? (uint64_t)c->memory_mib << MIB_LOG : available_bytes();
    if (needed <= available)
        return CLI_OK;
    return cli_error(c, NULL, NULL,
                     "%s of %llu %s takes %llu MiB of memory, %llu MiB can be had (see --memory)", what,
                     (unsigned long long)count, things,
                     (unsigned long long)((needed + (UINT64_C(1) << MIB_LOG) - 1) >> MIB_LOG),
                     (unsigned long long)(available >> MIB_LOG));
}

int cli_check_proof_memory(const cli *c, const sheaf_context *ctx, unsigned kind, uint64_t count) {
    const uint64_t needed = sheaf_prove_bytes(ctx, kind, (size_t)count);
    if (needed == UINT64_MAX)
        return cli_error(c, NULL, NULL, "out of memory");
    const char *thing = kind == SHEAF_KIND_HASH ? "hash" : "signature";
    char things[32];
    snprintf(things, sizeof things, "%s%s", thing, count == 1 ? "" : kind == SHEAF_KIND_HASH ? "es" : "s");
    return cli_check_memory(c, needed, kind == SHEAF_KIND_HASH ? "a batch" : "an aggregate", count, things);
}
