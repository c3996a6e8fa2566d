/* Files, read and written whole.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "posix.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io.h"
#include "wipe.h"

/* ---- failures ---- */

enum { NAME_SHOWN = 96 };

/* The end of a long path: where its file's name is. A failure has four characters for a control character. */
static const char *shown(const char *path) {
    const char *from = path + strlen(path);
    for (size_t room = NAME_SHOWN; from > path; from--) {
        const unsigned char before = (unsigned char)from[-1];
        const size_t takes = before < 0x20 || before == 0x7f ? 4 : 1;
        if (takes > room)
            break;
        room -= takes;
    }
    return from;
}

static sheaf_status io_fail(sheaf_failure *f, const char *doing, const char *path, int error) {
    char text[96];
    if (strerror_r(error, text, sizeof text) != 0)
        snprintf(text, sizeof text, "error %d", error);
    failure_set(f, SHEAF_IO, SHEAF_CHECK_NONE, 0, "cannot %s %s: %s", doing, shown(path), text);
    return SHEAF_IO;
}

static sheaf_status no_memory(sheaf_failure *f, const char *path) {
    failure_set(f, SHEAF_OUT_OF_MEMORY, SHEAF_CHECK_NONE, 0, "out of memory for %s", shown(path));
    return SHEAF_OUT_OF_MEMORY;
}

/* ---- reading ---- */

void io_free(uint8_t *data, size_t len) {
    wipe(data, len);
    free(data);
}

/* Moves the buffer to one of `room` bytes; what it leaves behind may be a key, so it is wiped. */
static int regrow(uint8_t **buf, size_t used, size_t room) {
    uint8_t *larger = malloc(room);
    if (larger == NULL)
        return -1;
    if (used > 0)
        memcpy(larger, *buf, used);
    io_free(*buf, used);
    *buf = larger;
    return 0;
}

static sheaf_status read_all(int fd, uint8_t **data, size_t *len, const char *name, size_t most,
                             sheaf_failure *f) {
    struct stat st;
    size_t room = 4096;
    if (fstat(fd, &st) != 0)
        return io_fail(f, "read", name, errno);
    if (S_ISDIR(st.st_mode))
        return io_fail(f, "read", name, EISDIR);
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        if ((uintmax_t)st.st_size > most)
            goto too_long;
        room = (size_t)st.st_size + 2; /* the terminator, and a byte to see the end by */
    }
    if (regrow(data, 0, room) != 0)
        return no_memory(f, name);
    for (;;) {
        if (room - *len < 2) {
            size_t more = room > SIZE_MAX / 2 ? SIZE_MAX : 2 * room;
            if (more == room || regrow(data, *len, more) != 0)
                return no_memory(f, name);
            room = more;
        }
        size_t want = room - *len - 1;
        ssize_t got = read(fd, *data + *len, want > SSIZE_MAX ? SSIZE_MAX : want);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            return io_fail(f, "read", name, errno);
        }
        if (got == 0)
            break;
        *len += (size_t)got;
        if (*len > most)
            goto too_long;
    }
    (*data)[*len] = 0;
    return SHEAF_OK;

too_long:
    failure_set(f, SHEAF_MALFORMED, SHEAF_CHECK_NONE, 0, "%s is longer than %zu bytes", shown(name), most);
    return SHEAF_MALFORMED;
}

sheaf_status io_read(uint8_t **data, size_t *len, const char *path, size_t most, sheaf_failure *f) {
    int standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    *data = NULL;
    *len = 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_fail(f, "open", name, errno);
    sheaf_status status = read_all(fd, data, len, name, most, f);
    if (!standard)
        close(fd);
    if (status != SHEAF_OK) {
        io_free(*data, *len);
        *data = NULL;
        *len = 0;
    }
    return status;
}

/* ---- writing ---- */

static int write_all(int fd, const uint8_t *p, size_t len) { /* 0, or -1 with errno set */
    while (len > 0) {
        ssize_t put = write(fd, p, len > SSIZE_MAX ? SSIZE_MAX : len);
        if (put < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        p += put;
        len -= (size_t)put;
    }
    return 0;
}

int io_sync(int fd) {
#ifdef F_FULLFSYNC
    if (fcntl(fd, F_FULLFSYNC) == 0)
        return 0;
    if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY)
        return -1;
        /* The file system has no such operation. */
#endif
    return fsync(fd);
}

/* Some file systems cannot synchronise some things, and say so: there is nothing more to be done then. */
static int sync_fd(int fd) {
    while (io_sync(fd) != 0) {
        if (errno == EINTR)
            continue;
        return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : -1;
    }
    return 0;
}

/* The folder of a path, in a new string: "." where the path has none. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = malloc(n + 1);
    if (folder != NULL) {
        memcpy(folder, slash == NULL ? "." : path, n);
        folder[n] = '\0';
    }
    return folder;
}

static int sync_folder(const char *path) {
    char *folder = folder_of(path);
    if (folder == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return errno == EACCES ? 0
                               : -1; /* a folder that may be written and not read cannot be synchronised */
    int failed = sync_fd(fd), error = errno;
    close(fd);
    errno = error;
    return failed;
}

static sheaf_status write_directly(int fd, const char *name, const void *data, size_t len, sheaf_failure *f) {
    return write_all(fd, data, len) == 0 ? SHEAF_OK : io_fail(f, "write", name, errno);
}

/* Gives the temporary file its name. Where `fresh`, only if the name is free. 0, or -1 with errno set. */
static int take_name(const char *temporary, const char *path, int fresh, mode_t mode) {
    if (!fresh)
        return rename(temporary, path);
    if (link(temporary, path) == 0) {
        unlink(temporary); /* a leftover of another name is no harm */
        return 0;
    }
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK)
        return -1;
    /* A file system without hard links: an empty file holds the name, then it is replaced. */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return -1;
    close(fd);
    if (rename(temporary, path) != 0) {
        int error = errno;
        unlink(path);
        errno = error;
        return -1;
    }
    return 0;
}

/* path: no symbolic link, and no special file. */
static sheaf_status write_whole(const char *path, const void *data, size_t len, unsigned flags,
                                sheaf_failure *f) {
    static unsigned counter; /* atomic: two threads of one process do not meet */
    mode_t mode = (flags & IO_PRIVATE) != 0 ? 0600 : 0666; /* the umask takes its part */
    size_t room = strlen(path) + 48;
    char *temporary = malloc(room);
    if (temporary == NULL)
        return no_memory(f, path);
    int fd = -1;
    for (int tries = 0; fd < 0 && tries < 100; tries++) {
        unsigned n = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
        snprintf(temporary, room, "%s.tmp-%ld-%u", path, (long)getpid(), n);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        sheaf_status status = io_fail(f, "create", path, errno);
        free(temporary);
        return status;
    }

    const char *failed = NULL;
    int error = 0;
    if (write_all(fd, data, len) != 0 || sync_fd(fd) != 0) {
        failed = "write";
        error = errno;
    }
    if (close(fd) != 0 && failed == NULL && errno != EINTR) {
        failed = "write";
        error = errno;
    }
    if (failed == NULL && take_name(temporary, path, (flags & IO_NEW) != 0, mode) != 0) {
        failed = (flags & IO_NEW) != 0 ? "create" : "replace";
        error = errno;
    }
    if (failed != NULL) {
        unlink(temporary);
    } else if (sync_folder(path) != 0) {
        failed = "synchronise the folder of";
        error = errno;
    }
    free(temporary);
    return failed == NULL ? SHEAF_OK : io_fail(f, failed, path, error);
}

sheaf_status io_write(const char *path, const void *data, size_t len, unsigned flags, sheaf_failure *f) {
    struct stat st;
    if (strcmp(path, "-") == 0)
        return write_directly(STDOUT_FILENO, "standard output", data, len, f);
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? write_whole(path, data, len, flags, f) : io_fail(f, "write", path, errno);
    if ((flags & IO_NEW) != 0)
        return io_fail(f, "create", path, EEXIST);
    char *target = NULL;
    if (S_ISLNK(st.st_mode)) {
        target = realpath(path, NULL);
        if (target == NULL || stat(target, &st) != 0) {
            int error = errno;
            free(target);
            return io_fail(f, "write", path, error);
        }
    }
    sheaf_status status;
    if (S_ISREG(st.st_mode)) {
        status = write_whole(target != NULL ? target : path, data, len, flags, f);
    } else if (S_ISDIR(st.st_mode)) {
        status = io_fail(f, "write", path, EISDIR);
    } else {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        status = fd < 0 ? io_fail(f, "open", path, errno) : write_directly(fd, path, data, len, f);
        if (fd >= 0 && close(fd) != 0 && status == SHEAF_OK && errno != EINTR)
            status = io_fail(f, "write", path, errno);
    }
    free(target);
    return status;
}

sheaf_status io_check_write(const char *path, sheaf_failure *f) {
    struct stat st;
    if (strcmp(path, "-") == 0)
        return SHEAF_OK;
    const int there = lstat(path, &st) == 0;
    if (!there && errno != ENOENT)
        return io_fail(f, "write", path, errno);
    if (there && S_ISDIR(st.st_mode))
        return io_fail(f, "write", path, EISDIR);
    if (there && !S_ISREG(st.st_mode))
        return SHEAF_OK;
    char *folder = folder_of(path);
    if (folder == NULL)
        return no_memory(f, path);
    const int closed = access(folder, W_OK | X_OK) != 0;
    const int error = errno;
    free(folder);
    return closed ? io_fail(f, "create", path, error) : SHEAF_OK;
}
