/* Key files on disk.   docs/leanxmss.md 6, 7.   SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Everything here serves one rule: an epoch never signs two different messages, whatever ends the process or
 * the machine, at whatever moment, and whoever else signs. Hence the order of steps: lock; read the whole
 * journal; make the signature; append its record; wait for the disk; only then hand it out; unlock. */
#include "../base/posix.h"
#include "keyfile.h"
#include "leanxmss_key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include "bearssl.h"
#include "../base/io.h"
#include "../base/random.h"
#include "../hash/shake.h"

enum {
    FORMAT_VERSION = 1,
    SCHEME_LEANXMSS_SHAKE256 = 1,
    TAG = 32, /* SHA-256 */
    JOURNAL_HEADER = 88,
    RECORD = 72,
    RECORD_BODY = RECORD - TAG,
    LOCK_TEXT = 512
};

static const uint8_t journal_magic[8] = "SHEAFJNL";
#define WITHDRAWN UINT32_MAX /* in a record's place for the trial: the epoch can sign nothing any more */

typedef struct names {
    char *key, *journal, *lock, *fresh, *folder; /* one block, which starts at key */
} names;

struct keyfile {
    leanxmss_key key;
    names at;
    mem *mem;
};

/* ---- steps ---- */

#ifdef SHEAF_TEST_HOOKS
int (*keyfile_test_hook)(const char *step);
static int fault(const char *step) {
    if (keyfile_test_hook == NULL || keyfile_test_hook(step) == 0)
        return 0;
    errno = EIO;
    return 1;
}
#else
static inline int fault(const char *step) {
    (void)step;
    return 0;
}
#endif

static sheaf_status io_failure(sheaf_failure *f, const char *what, const char *path) {
    failure_set(f, SHEAF_IO, SHEAF_CHECK_NONE, 0, "%s: %s: %s", what, strerror(errno), path);
    return SHEAF_IO;
}

__attribute__((format(printf, 3, 4))) static sheaf_status refuse(sheaf_failure *f, sheaf_status status,
                                                                 const char *fmt, ...) {
    char text[sizeof f->message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    failure_set(f, status, SHEAF_CHECK_NONE, 0, "%s", text);
    return status;
}

/* Adds a sentence to a notice. */
__attribute__((format(printf, 2, 3))) static void say(char notice[192], const char *fmt, ...) {
    size_t used = strlen(notice);
    if (used > 0 && used + 2 < 192) {
        memcpy(notice + used, "; ", 3);
        used += 2;
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(notice + used, 192 - used, fmt, args);
    va_end(args);
}

/* ---- files ---- */

static int write_at(int fd, const uint8_t *p, size_t n, uint64_t at, const char *step) {
    if (fault(step))
        return -1;
    while (n > 0) {
        ssize_t w = pwrite(fd, p, n < (1u << 30) ? n : 1u << 30, (off_t)at);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0) {
            if (w == 0)
                errno = ENOSPC;
            return -1;
        }
        p += w;
        n -= (size_t)w;
        at += (uint64_t)w;
    }
    return 0;
}

/* A file that ends early is a failure too. */
static int read_at(int fd, uint8_t *p, size_t n, uint64_t at) {
    while (n > 0) {
        ssize_t r = pread(fd, p, n < (1u << 30) ? n : 1u << 30, (off_t)at);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0) {
            if (r == 0)
                errno = EIO;
            return -1;
        }
        p += r;
        n -= (size_t)r;
        at += (uint64_t)r;
    }
    return 0;
}

static int sync_file(int fd, const char *step) {
    return fault(step) ? -1 : io_sync(fd);
}

/* A file system that has no such operation on folders orders its names by itself. */
static int sync_folder(const char *folder, const char *step) {
    if (fault(step))
        return -1;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int r = io_sync(fd);
    if (r != 0 && errno == EINVAL)
        r = 0;
    int error = errno;
    close(fd);
    errno = error;
    return r;
}

/* A regular file's size; -1 where it is none. O_NONBLOCK in the caller's open keeps a pipe from stopping us.
 */
static int regular_size(int fd, uint64_t *size) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    *size = (uint64_t)st.st_size;
    return 0;
}

static int names_make(names *n, mem *m, const char *path) {
    static const char *const suffix[] = {"", ".journal", ".lock", ".unfinished"};
    size_t len = strlen(path), each = len + sizeof ".unfinished";
    char *block = mem_alloc(m, 5 * each);
    if (block == NULL)
        return -1;
    char **out[] = {&n->key, &n->journal, &n->lock, &n->fresh};
    for (size_t i = 0; i < 4; i++) {
        *out[i] = block + i * each;
        memcpy(*out[i], path, len);
        memcpy(*out[i] + len, suffix[i], strlen(suffix[i]) + 1);
    }
    const char *slash = strrchr(path, '/');
    size_t folder_len = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    n->folder = block + 4 * each;
    memcpy(n->folder, slash == NULL ? "." : path, folder_len);
    n->folder[folder_len] = '\0';
    return 0;
}

/* ---- the lock: docs/leanxmss.md 7.3 ----
 *
 * The file at NAME.lock, made exclusively, says to everyone that a process signs, and which. That process
 * also holds flock on it, which ends with the process whatever ends it: so on one machine a file whose flock
 * is free has no living holder, and of two processes that find it so only one gets the flock. A stale file is
 * never removed by its finder, only written anew under the flock: removal could hit the file of a third. */

typedef struct holder {
    unsigned long long pid, start; /* start: when the process began, 0 where that is not known */
    char boot[64], machine[64], host[64];
} holder;

/* The first word of a small file, "-" where there is none. */
static void read_word(char out[64], const char *path) {
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, out, 63);
        close(fd);
    }
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, " \n\t")] = '\0';
    if (out[0] == '\0')
        memcpy(out, "-", 2);
}

/* What tells one run of the system from the next, "-" where nothing does. */
static void read_boot(char out[64]) {
#ifdef __APPLE__
    size_t size = 63;
    memset(out, 0, 64);
    if (sysctlbyname("kern.bootsessionuuid", out, &size, NULL, 0) == 0 && out[0] != '\0' &&
        out[strcspn(out, " \n\t")] == '\0')
        return;
#endif
    read_word(out, "/proc/sys/kernel/random/boot_id");
}

/* The state letter and the start time of a process; -1 where the system does not tell. */
static int process_stat(unsigned long long pid, char *state, unsigned long long *start) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%llu/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *p = strrchr(text, ')'); /* the name before it may hold anything */
    if (p == NULL || p[1] != ' ' || p[2] == '\0')
        return -1;
    *state = p[2];
    p += 2;
    for (int field = 3; field < 22; field++) {
        p = strchr(p, ' ');
        if (p == NULL)
            return -1;
        p++;
    }
    *start = strtoull(p, NULL, 10);
    return 0;
}

static void holder_self(holder *h) {
    char state;
    h->pid = (unsigned long long)getpid();
    if (process_stat(h->pid, &state, &h->start) != 0)
        h->start = 0;
    read_boot(h->boot);
    read_word(h->machine, "/etc/machine-id");
    char host[256] = "";
    if (gethostname(host, sizeof host) != 0 || host[0] == '\0')
        memcpy(host, "-", 2);
    host[sizeof h->host - 1] = '\0';
    for (char *c = host; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~')
            *c = '_';
    memcpy(h->host, host, sizeof h->host);
}

static int holder_gone(const holder *h) {
    if (kill((pid_t)h->pid, 0) != 0 && errno == ESRCH)
        return 1;
    char state;
    unsigned long long start;
    if (process_stat(h->pid, &state, &start) != 0)
        return 0;
    return state == 'Z' || state == 'X' || (h->start != 0 && start != 0 && start != h->start);
}

/* One line "name value"; moves past it. */
static int holder_field(char value[64], const char **at, const char *name) {
    size_t len = strlen(name);
    const char *end = strchr(*at, '\n');
    if (end == NULL || strncmp(*at, name, len) != 0 || (*at)[len] != ' ')
        return -1;
    const char *from = *at + len + 1;
    if (end <= from || end - from > 63)
        return -1;
    memcpy(value, from, (size_t)(end - from));
    value[end - from] = '\0';
    *at = end + 1;
    return 0;
}

/* -1 where the text is not whole. */
static int holder_parse(holder *h, const char *text) {
    static const char first_line[] = "sheaf lock 1\n";
    char pid[64], start[64];
    if (strncmp(text, first_line, sizeof first_line - 1) != 0)
        return -1;
    text += sizeof first_line - 1;
    if (holder_field(pid, &text, "pid") != 0 || holder_field(start, &text, "start") != 0 ||
        holder_field(h->boot, &text, "boot") != 0 || holder_field(h->machine, &text, "machine") != 0 ||
        holder_field(h->host, &text, "host") != 0 || strcmp(text, "end\n") != 0)
        return -1;
    h->pid = strtoull(pid, NULL, 10);
    h->start = strtoull(start, NULL, 10);
    return h->pid >= 1 && h->pid <= INT_MAX ? 0 : -1;
}

static int holder_read(holder *h, int fd) {
    char text[LOCK_TEXT];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return holder_parse(h, text);
}

static int holder_write(int fd, const holder *h) {
    char text[LOCK_TEXT];
    int n =
        snprintf(text, sizeof text, "sheaf lock 1\npid %llu\nstart %llu\nboot %s\nmachine %s\nhost %s\nend\n",
                 h->pid, h->start, h->boot, h->machine, h->host);
    return write_at(fd, (const uint8_t *)text, (size_t)n, 0, "write lock");
}

/* Whether the name still leads to the open file. */
static int same_file(int fd, const char *path) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void pause_ms(long ms) {
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

/* Whether a lock whose flock is free is stale; if not, f says why. */
static int lock_is_stale(int fd, const holder *self, const char *path, char notice[192], sheaf_failure *f) {
    holder h;
    if (holder_read(&h, fd) != 0) {
        pause_ms(50); /* where flock does not reach its maker, it may be about to write */
        if (holder_read(&h, fd) != 0) {
            say(notice, "took over an unfinished lock file");
            return 1;
        }
    }
    if (strcmp(h.host, self->host) != 0) {
        refuse(f, SHEAF_LOCKED,
               "the key is locked by process %llu on host %s, not this one; if it is gone, remove %s", h.pid,
               h.host, path);
        return 0;
    }
    if (strcmp(h.boot, self->boot) != 0) {
        if (strcmp(h.machine, self->machine) == 0 && strcmp(h.machine, "-") != 0) {
            say(notice, "took over the lock of process %llu, which a restart of this machine ended", h.pid);
            return 1;
        }
        refuse(f, SHEAF_LOCKED,
               "the key is locked by process %llu of another boot of %s; if it is gone, remove %s", h.pid,
               h.host, path);
        return 0;
    }
    if (!holder_gone(&h)) {
        refuse(f, SHEAF_LOCKED, "the key is in use by process %llu on %s: %s", h.pid, h.host, path);
        return 0;
    }
    say(notice, "took over the lock of process %llu, which is gone", h.pid);
    return 1;
}

static sheaf_status lock_held(int fd, const char *path, int can_flock, sheaf_failure *f) {
    holder h;
    if (holder_read(&h, fd) == 0)
        return refuse(f, SHEAF_LOCKED, "the key is in use by process %llu on %s%s: %s", h.pid, h.host,
                      can_flock ? "" : "; if it is gone, remove the lock", path);
    return refuse(f, SHEAF_LOCKED, "the key is in use by a process that has not named itself yet: %s", path);
}

/* One attempt. *fd >= 0: the lock is ours. *fd < 0 and SHEAF_OK: the file changed under our eyes, try again.
 */
static sheaf_status lock_attempt(int *fd, const names *n, const holder *self, char notice[192],
                                 sheaf_failure *f) {
    *fd = -1;
    int made = 1;
    int file =
        fault("make lock") ? -1 : open(n->lock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) {
        made = 0;
        file = open(n->lock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0 && errno == ENOENT)
            return SHEAF_OK;
    }
    if (file < 0)
        return io_failure(f, "the lock cannot be made", n->lock);

    uint64_t size = 0;
    sheaf_status status = SHEAF_OK;
    int can_flock = 1;
    if (regular_size(file, &size) != 0) {
        status = io_failure(f, "the lock cannot be used", n->lock);
    } else if (fault("flock lock") || flock(file, LOCK_EX | LOCK_NB) != 0) {
        can_flock = errno != EWOULDBLOCK ? 0 : -1;
    }
    if (status == SHEAF_OK && can_flock < 0) {
        if (!made)
            status = lock_held(file, n->lock, 1, f);
    } else if (status == SHEAF_OK && same_file(file, n->lock) && regular_size(file, &size) == 0) {
        /* A file that we made and another process has written to is that process's. */
        int ours = made && size == 0;
        if (!made && !can_flock)
            status = lock_held(file, n->lock, 0, f);
        else if (!made) {
            ours = lock_is_stale(file, self, n->lock, notice, f);
            if (!ours)
                status = SHEAF_LOCKED;
            else if (fault("empty stale lock") || ftruncate(file, 0) != 0)
                status = io_failure(f, "the stale lock cannot be taken over", n->lock);
        }
        if (status == SHEAF_OK && ours) {
            if (holder_write(file, self) != 0)
                status = io_failure(f, "the lock cannot be written", n->lock);
            else
                *fd = file;
            if (status != SHEAF_OK && made)
                unlink(n->lock);
        }
    }
    if (*fd < 0)
        close(file);
    return status;
}

static sheaf_status lock_take(int *fd, const names *n, char notice[192], sheaf_failure *f) {
    holder self;
    holder_self(&self);
    for (int tries = 0; tries < 100; tries++) {
        sheaf_status status = lock_attempt(fd, n, &self, notice, f);
        if (status != SHEAF_OK || *fd >= 0)
            return status;
        pause_ms(1);
    }
    return refuse(f, SHEAF_LOCKED, "the lock changes hands too often: %s", n->lock);
}

static void lock_release(int fd, const names *n, char notice[192]) {
    if (same_file(fd, n->lock) && (fault("remove lock") || unlink(n->lock) != 0)) {
        say(notice, "the lock file could not be removed");
        if (ftruncate(fd, 0) != 0)
            say(notice, "nor be emptied");
    }
    fault("close lock");
    close(fd);
}

/* ---- the journal: docs/leanxmss.md 7.2 ---- */

typedef struct record {
    uint32_t epoch, trial;
    uint8_t message[32];
} record;

/* The bytes of a record after the one with `tag`; `tag` becomes its own. */
static void record_write(uint8_t out[RECORD], uint8_t tag[TAG], const record *r) {
    store32_le(out, r->epoch);
    store32_le(out + 4, r->trial);
    memcpy(out + 8, r->message, 32);
    br_sha256_context h;
    br_sha256_init(&h);
    br_sha256_update(&h, tag, TAG);
    br_sha256_update(&h, out, RECORD_BODY);
    br_sha256_out(&h, tag);
    memcpy(out + RECORD_BODY, tag, TAG);
}

static void record_read(record *r, const uint8_t in[RECORD_BODY]) {
    r->epoch = load32_le(in);
    r->trial = load32_le(in + 4);
    memcpy(r->message, in + 8, 32);
}

static void journal_header(uint8_t out[JOURNAL_HEADER], const leanxmss_key *k) {
    memcpy(out, journal_magic, 8);
    store32_le(out + 8, FORMAT_VERSION);
    store32_le(out + 12, SCHEME_LEANXMSS_SHAKE256);
    store32_le(out + 16, k->first);
    store32_le(out + 20, k->log_count);
    memcpy(out + 24, k->public_key, 32);
    br_sha256_context h;
    br_sha256_init(&h);
    br_sha256_update(&h, out, JOURNAL_HEADER - TAG);
    br_sha256_out(&h, out + JOURNAL_HEADER - TAG);
}

typedef struct journal {
    int fd;
    uint64_t records;     /* whole ones */
    uint8_t tag[TAG];     /* of the last record or of the header; set by journal_scan */
    uint8_t tail[RECORD]; /* a torn record's bytes */
    size_t tail_len;
} journal;

static uint64_t record_at(uint64_t index) {
    return JOURNAL_HEADER + index * RECORD;
}

static int in_interval(const leanxmss_key *k, uint32_t epoch) {
    return epoch >= k->first && (uint64_t)(epoch - k->first) >> k->log_count == 0;
}

static void journal_close(journal *j) {
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
}

/* Opens the journal and checks that it is this key's. To write, it takes flock on it too, which holds even
 * where somebody removed the lock file of a living process. */
static sheaf_status journal_open(journal *j, const keyfile *k, int to_write, sheaf_failure *f) {
    const char *path = k->at.journal;
    memset(j, 0, sizeof *j);
    j->fd = fault("open journal")
                ? -1
                : open(path, (to_write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (j->fd < 0 && errno == ENOENT)
        return refuse(
            f, SHEAF_IO,
            "the journal is missing (was the key restored from a backup?), so the key cannot sign: %s", path);
    if (j->fd < 0)
        return io_failure(f, "the journal cannot be opened", path);
    if (to_write && flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        journal_close(j);
        return refuse(f, SHEAF_LOCKED, "another process is writing the journal: %s", path);
    }
    uint64_t size = 0;
    if (regular_size(j->fd, &size) != 0) {
        io_failure(f, "the journal cannot be read", path);
        journal_close(j);
        return SHEAF_IO;
    }
    uint8_t want[JOURNAL_HEADER], have[JOURNAL_HEADER];
    journal_header(want, &k->key);
    if (size < JOURNAL_HEADER) {
        journal_close(j);
        return refuse(f, SHEAF_MALFORMED, "the journal's header is cut short: %s", path);
    }
    j->records = (size - JOURNAL_HEADER) / RECORD;
    j->tail_len = (size_t)((size - JOURNAL_HEADER) % RECORD);
    if (read_at(j->fd, have, sizeof have, 0) != 0 ||
        read_at(j->fd, j->tail, j->tail_len, record_at(j->records)) != 0) {
        io_failure(f, "the journal cannot be read", path);
        journal_close(j);
        return SHEAF_IO;
    }
    sheaf_status status = SHEAF_OK;
    if (memcmp(have, journal_magic, 8) != 0)
        status = refuse(f, SHEAF_MALFORMED, "this is not a journal: %s", path);
    else if (load32_le(have + 8) != FORMAT_VERSION || load32_le(have + 12) != SCHEME_LEANXMSS_SHAKE256)
        status = refuse(f, SHEAF_UNSUPPORTED, "a journal of an unknown version or scheme: %s", path);
    else if (memcmp(have + 16, want + 16, JOURNAL_HEADER - TAG - 16) != 0)
        status = refuse(f, SHEAF_MALFORMED, "the journal belongs to another key: %s", path);
    else if (memcmp(have, want, sizeof have) != 0)
        status = refuse(f, SHEAF_MALFORMED, "the journal's header is damaged (checksum): %s", path);
    else if (j->records > UINT64_C(1) << k->key.log_count)
        status = refuse(f, SHEAF_MALFORMED, "the journal has more records than the key has epochs: %s", path);
    memcpy(j->tag, have + JOURNAL_HEADER - TAG, TAG);
    if (status != SHEAF_OK)
        journal_close(j);
    return status;
}

/* Reads and checks all records in order and shows each to visit. */
static sheaf_status journal_scan(journal *j, const keyfile *k,
                                 void (*visit)(void *ctx, uint64_t index, const record *r), void *ctx,
                                 sheaf_failure *f) {
    enum { AT_ONCE = 128 };
    uint8_t bytes[AT_ONCE * RECORD], again[RECORD];
    for (uint64_t i = 0; i < j->records;) {
        size_t n = j->records - i < AT_ONCE ? (size_t)(j->records - i) : AT_ONCE;
        if (fault("read journal") || read_at(j->fd, bytes, n * RECORD, record_at(i)) != 0)
            return io_failure(f, "the journal cannot be read", k->at.journal);
        for (size_t b = 0; b < n; b++, i++) {
            record r;
            record_read(&r, bytes + b * RECORD);
            record_write(again, j->tag, &r);
            if (memcmp(again, bytes + b * RECORD, RECORD) != 0) {
                failure_set(f, SHEAF_MALFORMED, SHEAF_CHECK_NONE, i,
                            "record %llu of the journal is damaged (checksum): %s", (unsigned long long)i,
                            k->at.journal);
                return SHEAF_MALFORMED;
            }
            if (!in_interval(&k->key, r.epoch)) {
                failure_set(f, SHEAF_MALFORMED, SHEAF_CHECK_NONE, i,
                            "record %llu of the journal is for epoch %lu, which the key does not have: %s",
                            (unsigned long long)i, (unsigned long)r.epoch, k->at.journal);
                return SHEAF_MALFORMED;
            }
            visit(ctx, i, &r);
        }
    }
    return SHEAF_OK;
}

/* Appends a record, waits for the disk. A torn record in its place is written over: it is shorter. */
static sheaf_status journal_append(journal *j, const keyfile *k, const record *r, sheaf_failure *f) {
    uint8_t bytes[RECORD], tag[TAG];
    memcpy(tag, j->tag, TAG);
    record_write(bytes, tag, r);
    uint64_t end = record_at(j->records);
    if (write_at(j->fd, bytes, sizeof bytes, end, "write record") != 0 ||
        sync_file(j->fd, "sync record") != 0) {
        io_failure(f, "the journal cannot be written", k->at.journal);
        /* Nothing has left, so the record may go. It must, where the disk refused it: a second wait for the
         * same bytes could succeed without their being there. If even this fails, it binds the epoch to the
         * message. */
        if (fault("cut record") || ftruncate(j->fd, (off_t)(end + j->tail_len)) != 0)
            io_failure(f, "the journal cannot be written, nor its last record be taken back", k->at.journal);
        return SHEAF_IO;
    }
    memcpy(j->tag, tag, TAG);
    j->records++;
    j->tail_len = 0;
    return SHEAF_OK;
}

/* ---- signing ---- */

/* What a scan for one epoch finds, and whether the torn record's epoch has a whole one. */
typedef struct search {
    uint32_t epoch, torn_epoch;
    uint64_t found, torn_found; /* records of them */
    uint64_t index;             /* the last of the first */
    record r;
} search;

static void search_visit(void *ctx, uint64_t index, const record *r) {
    search *s = ctx;
    if (r->epoch == s->epoch) {
        s->found++;
        s->index = index;
        s->r = *r;
    }
    if (r->epoch == s->torn_epoch)
        s->torn_found++;
}

/* A signature from the key alone, verified: a fault in memory or in the key file must not leave as a
 * signature. */
static sheaf_status make_signature(uint8_t signature[LEANXMSS_SIGNATURE_BYTES], const keyfile *k,
                                   uint32_t epoch, const uint8_t message[32], uint32_t *trials,
                                   sheaf_failure *f) {
    sheaf_status status = leanxmss_sign(signature, &k->key, epoch, message, trials);
    if (status != SHEAF_OK)
        return refuse(f, status, "%s", sheaf_status_text(status));
    if (leanxmss_verify(k->key.public_key, epoch, message, signature) != 0)
        return refuse(f, SHEAF_MALFORMED, "the key's nodes do not fit its public key: %s", k->at.key);
    return SHEAF_OK;
}

/* A torn record was never waited for, so its signature never left. Still, where its epoch can be read, that
 * epoch may from now on sign only what the record would have said: the retry that would write the very same
 * bytes goes on; any other message is refused; and before another epoch's record takes the place, the epoch
 * is withdrawn. An epoch lost is cheap, and the argument then leans on nothing that a disk has promised. */
static sheaf_status settle_torn_record(journal *j, const keyfile *k, const search *s, const record *next,
                                       char notice[192], sheaf_failure *f) {
    if (j->tail_len == 0)
        return SHEAF_OK;
    record torn = {.epoch = s->torn_epoch, .trial = WITHDRAWN};
    if (j->tail_len < 4 || !in_interval(&k->key, torn.epoch) || s->torn_found != 0) {
        say(notice, "wrote over a torn record");
        return SHEAF_OK;
    }
    if (torn.epoch == next->epoch) {
        uint8_t bytes[RECORD], tag[TAG];
        memcpy(tag, j->tag, TAG);
        record_write(bytes, tag, next);
        if (memcmp(bytes, j->tail, j->tail_len) != 0)
            return refuse(f, SHEAF_EPOCH_USED,
                          "epoch %lu has begun to sign another message: a torn record of %s",
                          (unsigned long)torn.epoch, k->at.journal);
        say(notice, "completed a torn record");
        return SHEAF_OK;
    }
    sheaf_status status = journal_append(j, k, &torn, f);
    if (status == SHEAF_OK)
        say(notice, "withdrew epoch %lu, whose record was torn", (unsigned long)torn.epoch);
    return status;
}

static sheaf_status sign_again(uint8_t *signature, keyfile_note *note, journal *j, const keyfile *k,
                               const search *s, const uint8_t message[32], sheaf_failure *f) {
    unsigned long epoch = s->epoch;
    if (s->found > 1) {
        failure_set(f, SHEAF_MALFORMED, SHEAF_CHECK_NONE, s->index,
                    "record %llu of the journal names epoch %lu a second time: %s",
                    (unsigned long long)s->index, epoch, k->at.journal);
        return SHEAF_MALFORMED;
    }
    if (s->r.trial == WITHDRAWN)
        return refuse(f, SHEAF_EPOCH_USED, "epoch %lu was withdrawn after a crash (record %llu of %s)", epoch,
                      (unsigned long long)s->index, k->at.journal);
    if (memcmp(s->r.message, message, 32) != 0)
        return refuse(f, SHEAF_EPOCH_USED, "epoch %lu has signed another message (record %llu of %s)", epoch,
                      (unsigned long long)s->index, k->at.journal);
    sheaf_status status = make_signature(signature, k, s->epoch, message, &note->trials, f);
    if (status != SHEAF_OK)
        return status;
    /* Another randomizer would show other positions of the same chains. */
    if (note->trials != s->r.trial) {
        failure_set(f, SHEAF_MALFORMED, SHEAF_CHECK_NONE, s->index,
                    "record %llu of the journal has another randomizer than this key: %s",
                    (unsigned long long)s->index, k->at.journal);
        return SHEAF_MALFORMED;
    }
    /* The process that wrote the record may have ended before the disk had it. */
    if (sync_file(j->fd, "sync journal again") != 0)
        return io_failure(f, "the journal cannot be written", k->at.journal);
    note->repeated = 1;
    return SHEAF_OK;
}

/* A crash of keyfile_create may leave the key under its first name too. */
static void remove_second_name(const names *n, char notice[192]) {
    struct stat a, b;
    if (lstat(n->fresh, &a) == 0 && lstat(n->key, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
        !fault("remove second name") && unlink(n->fresh) == 0)
        say(notice, "removed a left-over second name of the key");
}

static sheaf_status sign_locked(uint8_t *signature, keyfile_note *note, const keyfile *k, uint32_t epoch,
                                const uint8_t message[32], sheaf_failure *f) {
    remove_second_name(&k->at, note->notice);
    journal j;
    sheaf_status status = journal_open(&j, k, 1, f);
    if (status != SHEAF_OK)
        return status;
    search s = {.epoch = epoch, .torn_epoch = load32_le(j.tail)};
    record r = {.epoch = epoch};
    memcpy(r.message, message, 32);
    status = journal_scan(&j, k, search_visit, &s, f);
    if (status == SHEAF_OK && s.found != 0) {
        status = sign_again(signature, note, &j, k, &s, message, f);
    } else if (status == SHEAF_OK) {
        status = make_signature(signature, k, epoch, message, &note->trials, f);
        r.trial = note->trials;
        if (status == SHEAF_OK)
            status = settle_torn_record(&j, k, &s, &r, note->notice, f);
        if (status == SHEAF_OK)
            status = journal_append(&j, k, &r, f);
    }
    journal_close(&j);
    return status;
}

sheaf_status keyfile_sign(uint8_t signature[LEANXMSS_SIGNATURE_BYTES], keyfile_note *note, const keyfile *k,
                          uint32_t epoch, const uint8_t message[32], sheaf_failure *f) {
    keyfile_note unused;
    if (note == NULL)
        note = &unused;
    memset(note, 0, sizeof *note);
    memset(signature, 0, LEANXMSS_SIGNATURE_BYTES);
    if (!in_interval(&k->key, epoch))
        return refuse(f, SHEAF_EPOCH_RANGE, "the key does not cover epoch %lu: it has %lu to %lu",
                      (unsigned long)epoch, (unsigned long)k->key.first,
                      (unsigned long)(k->key.first + (keyfile_count(k) - 1)));
    int lock;
    uint8_t made[LEANXMSS_SIGNATURE_BYTES];
    sheaf_status status = lock_take(&lock, &k->at, note->notice, f);
    if (status != SHEAF_OK)
        return status;
    status = sign_locked(made, note, k, epoch, message, f);
    lock_release(lock, &k->at, note->notice);
    fault("signed");
    if (status == SHEAF_OK)
        memcpy(signature, made, sizeof made);
    secure_wipe(made, sizeof made);
    return status;
}

/* ---- what the journal says ---- */

typedef struct collect {
    uint32_t *epochs;
    uint64_t withdrawn;
} collect;

static void collect_visit(void *ctx, uint64_t index, const record *r) {
    collect *c = ctx;
    c->epochs[index] = r->epoch;
    c->withdrawn += r->trial == WITHDRAWN;
}

static int compare_epochs(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Joins sorted epochs to ranges; -1 where one is there twice. out NULL: only counts. */
static int make_ranges(keyfile_range *out, size_t *n_out, const uint32_t *epochs, size_t n) {
    size_t ranges = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && epochs[i] == epochs[i - 1])
            return -1;
        if (i == 0 || epochs[i] != epochs[i - 1] + 1) {
            ranges++;
            if (out != NULL)
                out[ranges - 1].first = epochs[i];
        }
        if (out != NULL)
            out[ranges - 1].last = epochs[i];
    }
    *n_out = ranges;
    return 0;
}

sheaf_status keyfile_usage_read(keyfile_usage *u, const keyfile *k, sheaf_failure *f) {
    memset(u, 0, sizeof *u);
    u->first = k->key.first;
    u->count = u->left = keyfile_count(k);
    journal j;
    collect c = {NULL, 0};
    sheaf_status status = journal_open(&j, k, 0, f);
    if (status != SHEAF_OK)
        return status;
    if (j.records > 0) { /* at most one an epoch: journal_open checked */
        uint64_t bytes = j.records * sizeof *c.epochs;
        c.epochs = bytes <= SIZE_MAX ? mem_alloc(k->mem, (size_t)bytes) : NULL;
        if (c.epochs == NULL)
            status = refuse(f, SHEAF_OUT_OF_MEMORY, "the journal's epochs need %llu bytes",
                            (unsigned long long)bytes);
    }
    if (status == SHEAF_OK)
        status = journal_scan(&j, k, collect_visit, &c, f);
    if (status == SHEAF_OK && j.records > 0) {
        size_t n = (size_t)j.records;
        qsort(c.epochs, n, sizeof *c.epochs, compare_epochs);
        if (make_ranges(NULL, &u->n_ranges, c.epochs, n) != 0) {
            status = refuse(f, SHEAF_MALFORMED, "the journal names an epoch twice: %s", k->at.journal);
        } else {
            u->ranges = mem_alloc(k->mem, u->n_ranges * sizeof *u->ranges);
            if (u->ranges == NULL || make_ranges(u->ranges, &u->n_ranges, c.epochs, n) != 0)
                status = refuse(f, SHEAF_OUT_OF_MEMORY, "%s", sheaf_status_text(SHEAF_OUT_OF_MEMORY));
        }
    }
    u->used = j.records;
    u->left = u->count - u->used;
    u->withdrawn = c.withdrawn;
    u->torn = j.tail_len != 0;
    mem_free(k->mem, c.epochs);
    journal_close(&j);
    if (status != SHEAF_OK)
        keyfile_usage_free(u, k);
    return status;
}

void keyfile_usage_free(keyfile_usage *u, const keyfile *k) {
    mem_free(k->mem, u->ranges);
    memset(u, 0, sizeof *u);
}

/* ---- the key file: docs/leanxmss.md 7.1 ---- */

sheaf_status keyfile_interval(uint32_t *first, unsigned *log_count, uint64_t start, uint64_t count,
                              sheaf_failure *f) {
    const uint64_t all = UINT64_C(1) << LEANXMSS_HEIGHT;
    *first = 0;
    *log_count = 0;
    if (count == 0)
        return refuse(f, SHEAF_EPOCH_RANGE, "a key needs at least one epoch");
    if (start >= all || count > all - start)
        return refuse(f, SHEAF_EPOCH_RANGE, "the last epoch is %llu", (unsigned long long)(all - 1));
    unsigned k = ceil_log2(count);
    if (count == UINT64_C(1) << k && start % count == 0) {
        *first = (uint32_t)start;
        *log_count = k;
        return SHEAF_OK;
    }
    unsigned around = k;
    while (start >> around != (start + count - 1) >> around)
        around++;
    unsigned long long s = start, c = count, size = UINT64_C(1) << around, from = start >> around << around;
    if (count != UINT64_C(1) << k)
        return refuse(f, SHEAF_EPOCH_RANGE,
                      "epochs %llu:%llu are not an aligned interval (a power of two of them, from a multiple "
                      "of it): the "
                      "smallest around them is %llu:%llu",
                      s, c, from, size);
    unsigned long long before = start >> k << k, after = before + c;
    if (after >= all)
        return refuse(
            f, SHEAF_EPOCH_RANGE,
            "epochs %llu:%llu are not an aligned interval: take %llu:%llu, or %llu:%llu, which contains them",
            s, c, before, c, from, size);
    return refuse(f, SHEAF_EPOCH_RANGE,
                  "epochs %llu:%llu are not an aligned interval: take %llu:%llu or %llu:%llu, or %llu:%llu, "
                  "which contains them",
                  s, c, before, c, after, c, from, size);
}

/* Makes a file that was not there, mode 0600 whatever the umask. */
static int make_file(const char *path, const char *step) {
    int fd = fault(step) ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && fchmod(fd, 0600) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int write_key(int fd, const leanxmss_key *k) {
    uint8_t header[LEANXMSS_KEY_HEADER], checksum[LEANXMSS_KEY_CHECKSUM];
    uint64_t nodes = leanxmss_key_nodes_bytes(k->log_count), at = sizeof header;
    size_t siblings = leanxmss_key_siblings_bytes(k->log_count);
    leanxmss_key_header_write(header, k);
    leanxmss_key_checksum(checksum, k);
    int r = write_at(fd, header, sizeof header, 0, "write key header");
    secure_wipe(header, sizeof header);
    if (r != 0 || write_at(fd, k->nodes, (size_t)nodes, at, "write key nodes") != 0)
        return -1;
    at += nodes;
    if (write_at(fd, k->siblings[0], siblings, at, "write key siblings") != 0)
        return -1;
    return write_at(fd, checksum, sizeof checksum, at + siblings, "write key checksum");
}

/* The whole file under a name that nobody reads, then its own name, which must be free. */
static sheaf_status place_key(const names *n, const leanxmss_key *k, sheaf_failure *f) {
    if (fault("remove left-over key") || (unlink(n->fresh) != 0 && errno != ENOENT))
        return io_failure(f, "a left-over file cannot be removed", n->fresh);
    int fd = make_file(n->fresh, "make key");
    if (fd < 0)
        return io_failure(f, "the key file cannot be made", n->fresh);
    int r = write_key(fd, k);
    if (r == 0)
        r = sync_file(fd, "sync key");
    if (r != 0)
        io_failure(f, "the key file cannot be written", n->fresh);
    if (close(fd) != 0 && r == 0) {
        r = -1;
        io_failure(f, "the key file cannot be written", n->fresh);
    }
    /* link() refuses a name that is taken; rename(), for file systems without links, only under our lock
     * does. */
    if (r == 0 && (fault("name key") || link(n->fresh, n->key) != 0)) {
        struct stat st;
        r = errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK ? 0 : -1;
        if (r == 0 && lstat(n->key, &st) == 0) {
            errno = EEXIST;
            r = -1;
        }
        if (r != 0 || rename(n->fresh, n->key) != 0) {
            r = -1;
            io_failure(f, "the key file cannot be given its name", n->key);
        }
    }
    if (r != 0) {
        unlink(n->fresh);
        return SHEAF_IO;
    }
    if (sync_folder(n->folder, "sync folder of key") != 0)
        return io_failure(f, "the key file is there, but may not survive a power failure", n->key);
    if (fault("remove second name") || (unlink(n->fresh) != 0 && errno != ENOENT))
        return io_failure(f, "the key file is there, and so is a left-over", n->fresh);
    return SHEAF_OK;
}

/* Whether a file of at most a header is the beginning of a journal of ours: 1, 0, or -1 with errno set. What
 * a power failure left of one, nothing or a part of its magic, is one too. */
static int begins_journal(const char *path, uint64_t size) {
    uint8_t begin[sizeof journal_magic];
    size_t n = size < sizeof begin ? (size_t)size : sizeof begin;
    if (n == 0)
        return 1;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int r = read_at(fd, begin, n, 0), error = errno;
    close(fd);
    errno = error;
    return r != 0 ? -1 : memcmp(begin, journal_magic, n) == 0;
}

int keyfile_is_secret(const char *path) {
    uint8_t begin[8];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof begin)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    int r = read_at(fd, begin, sizeof begin, 0);
    close(fd);
    if (r != 0)
        return -1;
    return memcmp(begin, journal_magic, sizeof begin) == 0 ||
           memcmp(begin, leanxmss_key_magic, sizeof begin) == 0;
}

/* The empty journal. One without records, of a key that never came to be or never signed, makes place. */
static sheaf_status place_journal(const names *n, const leanxmss_key *k, sheaf_failure *f) {
    struct stat st;
    if (lstat(n->journal, &st) == 0) {
        if (!S_ISREG(st.st_mode) || st.st_size > JOURNAL_HEADER)
            return refuse(
                f, SHEAF_IO,
                "there is a journal with records, of a key that is not here; move it away first: %s",
                n->journal);
        int ours = begins_journal(n->journal, (uint64_t)st.st_size);
        if (ours < 0)
            return io_failure(f, "what has the journal's name cannot be read", n->journal);
        if (ours == 0)
            return refuse(f, SHEAF_IO,
                          "the journal's name is taken by a file that is no journal; move it away first: %s",
                          n->journal);
        if (fault("remove empty journal") || unlink(n->journal) != 0)
            return io_failure(f, "an empty journal cannot be removed", n->journal);
    }
    uint8_t header[JOURNAL_HEADER];
    journal_header(header, k);
    int fd = make_file(n->journal, "make journal");
    if (fd < 0)
        return io_failure(f, "the journal cannot be made", n->journal);
    int r = write_at(fd, header, sizeof header, 0, "write journal header");
    if (r == 0)
        r = sync_file(fd, "sync journal");
    if (r == 0)
        r = sync_folder(n->folder, "sync folder of journal");
    if (r != 0) {
        io_failure(f, "the journal cannot be written", n->journal);
        unlink(n->journal);
    }
    close(fd);
    return r == 0 ? SHEAF_OK : SHEAF_IO;
}

/* The key must fit in the machine before hours are spent on it. */
static sheaf_status check_memory(unsigned log_count, sheaf_failure *f) {
    uint64_t need = leanxmss_key_nodes_bytes(log_count), have = UINT64_MAX;
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        have = (uint64_t)pages * (uint64_t)page;
#endif
    if (need <= have && need <= SIZE_MAX)
        return SHEAF_OK;
    return refuse(f, SHEAF_OUT_OF_MEMORY,
                  "a key of 2^%u epochs needs %llu MiB of memory; this machine has %llu MiB", log_count,
                  (unsigned long long)(need >> 20), (unsigned long long)(have >> 20));
}

static sheaf_status check_free(const names *n, sheaf_failure *f) {
    struct stat st;
    if (lstat(n->key, &st) == 0)
        return refuse(f, SHEAF_IO, "there is a file already, and a key is never overwritten: %s", n->key);
    if (errno != ENOENT)
        return io_failure(f, "the key file cannot be made", n->key);
    return SHEAF_OK;
}

static sheaf_status create_locked(uint8_t public_key[32], const names *n, env *e, const uint8_t *given,
                                  uint32_t first, unsigned log_count, sheaf_failure *f) {
    sheaf_status status = check_free(n, f);
    if (status != SHEAF_OK)
        return status;
    uint8_t seed[32];
    if (given != NULL)
        memcpy(seed, given, sizeof seed);
    else if (random_bytes(seed, sizeof seed) != 0)
        return refuse(f, SHEAF_IO, "the system gives no randomness");
    leanxmss_key k;
    status = leanxmss_keygen(&k, e, seed, first, log_count);
    secure_wipe(seed, sizeof seed);
    if (status != SHEAF_OK)
        return refuse(f, status, "a key of 2^%u epochs (%llu MiB): %s", log_count,
                      (unsigned long long)(leanxmss_key_nodes_bytes(log_count) >> 20),
                      sheaf_status_text(status));
    status = place_journal(n, &k, f);
    if (status == SHEAF_OK)
        status = place_key(n, &k, f);
    if (status == SHEAF_OK)
        memcpy(public_key, k.public_key, sizeof k.public_key);
    leanxmss_key_wipe(&k, e != NULL ? e->mem : NULL);
    return status;
}

sheaf_status keyfile_create(uint8_t public_key[LEANXMSS_PUBLIC_KEY_BYTES], const char *path, env *e,
                            const uint8_t *seed, uint32_t first, unsigned log_count, sheaf_failure *f) {
    memset(public_key, 0, LEANXMSS_PUBLIC_KEY_BYTES);
    if (log_count > LEANXMSS_HEIGHT || (first & ((UINT64_C(1) << log_count) - 1)) != 0)
        return refuse(f, SHEAF_EPOCH_RANGE, "epoch %lu does not begin an aligned interval of 2^%u",
                      (unsigned long)first, log_count);
    sheaf_status status = check_memory(log_count, f);
    if (status != SHEAF_OK)
        return status;
    mem *m = e != NULL ? e->mem : NULL;
    names n;
    int lock;
    char notice[192] = "";
    if (names_make(&n, m, path) != 0)
        return refuse(f, SHEAF_OUT_OF_MEMORY, "%s", sheaf_status_text(SHEAF_OUT_OF_MEMORY));
    status = lock_take(&lock, &n, notice, f);
    if (status == SHEAF_OK) {
        status = create_locked(public_key, &n, e, seed, first, log_count, f);
        lock_release(lock, &n, notice);
        fault("created");
    }
    mem_free(m, n.key);
    return status;
}

static sheaf_status read_key(leanxmss_key *k, int fd, const char *path, mem *m, sheaf_failure *f) {
    uint8_t header[LEANXMSS_KEY_HEADER], checksum[LEANXMSS_KEY_CHECKSUM];
    uint64_t size;
    if (regular_size(fd, &size) != 0)
        return io_failure(f, "the key file cannot be read", path);
    if (size < sizeof header)
        return refuse(f, SHEAF_MALFORMED, "this is not a key: %s", path);
    if (read_at(fd, header, sizeof header, 0) != 0)
        return io_failure(f, "the key file cannot be read", path);
    sheaf_status status = leanxmss_key_header_read(k, m, header, size, path, f);
    secure_wipe(header, sizeof header);
    if (status != SHEAF_OK)
        return status;
    uint64_t nodes = leanxmss_key_nodes_bytes(k->log_count), at = sizeof header + nodes;
    size_t siblings = leanxmss_key_siblings_bytes(k->log_count);
    if (read_at(fd, k->nodes, (size_t)nodes, sizeof header) != 0 ||
        read_at(fd, k->siblings[0], siblings, at) != 0 ||
        read_at(fd, checksum, sizeof checksum, at + siblings) != 0)
        status = io_failure(f, "the key file cannot be read", path);
    else
        status = leanxmss_key_accept(k, checksum, path, f);
    if (status != SHEAF_OK)
        leanxmss_key_wipe(k, m);
    return status;
}

sheaf_status keyfile_open(keyfile **out, const char *path, mem *m, sheaf_failure *f) {
    *out = NULL;
    char *real = realpath(path, NULL);
    if (real == NULL)
        return io_failure(f, "the key file cannot be opened", path);
    keyfile *k = mem_alloc_zero(m, sizeof *k);
    sheaf_status status = SHEAF_OK;
    int fd = -1;
    if (k == NULL || names_make(&k->at, m, real) != 0) {
        status = refuse(f, SHEAF_OUT_OF_MEMORY, "%s", sheaf_status_text(SHEAF_OUT_OF_MEMORY));
    } else {
        k->mem = m;
        fd = open(real, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        status =
            fd < 0 ? io_failure(f, "the key file cannot be opened", path) : read_key(&k->key, fd, path, m, f);
    }
    if (fd >= 0)
        close(fd);
    free(real);
    if (status == SHEAF_OK) {
        *out = k;
    } else if (k != NULL) {
        mem_free(m, k->at.key);
        mem_free(m, k);
    }
    return status;
}

void keyfile_close(keyfile *k) {
    if (k == NULL)
        return;
    mem *m = k->mem;
    leanxmss_key_wipe(&k->key, m);
    mem_free(m, k->at.key);
    mem_free(m, k);
}

const uint8_t *keyfile_public_key(const keyfile *k) {
    return k->key.public_key;
}

uint32_t keyfile_first(const keyfile *k) {
    return k->key.first;
}

uint64_t keyfile_count(const keyfile *k) {
    return UINT64_C(1) << k->key.log_count;
}
