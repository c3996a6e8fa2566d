/* What went wrong with a file, in the words of the C library.  SPDX-License-Identifier: MIT OR Apache-2.0 */

/** @type {Record<string, string>} */
const texts = {
    EACCES: "Permission denied",
    EAGAIN: "Resource temporarily unavailable",
    EBADF: "Bad file descriptor",
    EBUSY: "Device or resource busy",
    EDQUOT: "Disk quota exceeded",
    EEXIST: "File exists",
    EFBIG: "File too large",
    EINTR: "Interrupted system call",
    EINVAL: "Invalid argument",
    EIO: "Input/output error",
    EISDIR: "Is a directory",
    ELOOP: "Too many levels of symbolic links",
    EMFILE: "Too many open files",
    EMLINK: "Too many links",
    ENAMETOOLONG: "File name too long",
    ENFILE: "Too many open files in system",
    ENOENT: "No such file or directory",
    ENOMEM: "Cannot allocate memory",
    ENOSPC: "No space left on device",
    ENOSYS: "Function not implemented",
    ENOTDIR: "Not a directory",
    ENOTEMPTY: "Directory not empty",
    ENOTSUP: "Operation not supported",
    ENXIO: "No such device or address",
    EPERM: "Operation not permitted",
    EPIPE: "Broken pipe",
    EROFS: "Read-only file system",
    ETXTBSY: "Text file busy",
    EXDEV: "Invalid cross-device link",
};

/** @param {unknown} error */
export function codeOf(error) {
    const code = /** @type {any} */ (error)?.code;
    return typeof code === "string" ? code : "";
}

/** @param {unknown} error */
export function textOf(error) {
    const code = codeOf(error);
    return texts[code] ?? (code || (error instanceof Error ? error.message : String(error)));
}
