/* Texts for status codes and names for checks.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base.h"

const char *sheaf_status_text(sheaf_status status) {
    switch (status) {
    case SHEAF_OK:
        return "ok";
    case SHEAF_REJECTED:
        return "the proof is rejected";
    case SHEAF_MALFORMED:
        return "malformed input";
    case SHEAF_INVALID_ARGUMENT:
        return "invalid argument";
    case SHEAF_OUT_OF_MEMORY:
        return "out of memory";
    case SHEAF_CANCELLED:
        return "cancelled";
    case SHEAF_IO:
        return "a file could not be read or written";
    case SHEAF_LOCKED:
        return "another process holds the key";
    case SHEAF_EPOCH_USED:
        return "the epoch has signed another message already";
    case SHEAF_BAD_SIGNATURE:
        return "a signature does not verify";
    case SHEAF_DUPLICATE_KEY:
        return "a public key is listed twice";
    case SHEAF_EPOCH_RANGE:
        return "the epoch is out of the key's range, or a range is not aligned";
    case SHEAF_UNSUPPORTED:
        return "not supported by this version";
    }
    return "unknown status";
}

/* The names are part of the interface: scripts and the other languages' packages match on them. */
static const char *const check_names[SHEAF_CHECK_COUNT_] = {
    [SHEAF_CHECK_NONE] = "none",
    [SHEAF_CHECK_HEADER] = "header",
    [SHEAF_CHECK_TRUNCATED] = "truncated",
    [SHEAF_CHECK_TRAILING] = "trailing",
    [SHEAF_CHECK_MULTIPLICITY] = "multiplicity",
    [SHEAF_CHECK_BUS_BALANCE] = "bus_balance",
    [SHEAF_CHECK_BUS_LAYER] = "bus_layer",
    [SHEAF_CHECK_LAYER] = "layer",
    [SHEAF_CHECK_INPUT] = "input",
    [SHEAF_CHECK_GRINDING] = "grinding",
    [SHEAF_CHECK_MERKLE] = "merkle",
    [SHEAF_CHECK_OPENING] = "opening",
    [SHEAF_CHECK_STATEMENT] = "statement",
};

const char *sheaf_check_name(sheaf_check check) {
    unsigned i = (unsigned)check;
    return i < SHEAF_CHECK_COUNT_ && check_names[i] != NULL ? check_names[i] : "unknown";
}
