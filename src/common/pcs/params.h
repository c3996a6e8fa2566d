/* The frozen parameter table and the ledger of the whole protocol.   docs/protocol.md 6.6, docs/soundness.md. */
#ifndef SHEAF_PARAMS_H
#define SHEAF_PARAMS_H

#include "../base/base.h"

#define WHIR_MAX_LEVELS 8
#define PARAMS_MAX_RATE 6
#define PARAMS_LAST_LOG 5 /* the last word has at most 2^5 elements */

typedef struct whir_level {
    uint8_t fold;    /* l: variables folded at this level; the interleaved word has 2^l rows */
    uint8_t rate;    /* R: the code's rate is 2^-R */
    uint8_t grind;   /* g <= 17 bits before this level's queries */
    uint8_t pad;
    uint16_t queries; /* t */
    uint16_t eta_k;   /* k: the slack is eta = sqrt(rho)/k; only the ledger reads it */
} whir_level;

typedef struct whir_params {
    uint8_t log_words;  /* v = J + m variables */
    uint8_t levels;     /* committed levels, 1..WHIR_MAX_LEVELS */
    uint8_t last_log;   /* variables of the last word, <= PARAMS_LAST_LOG: log_words - sum of folds */
    uint8_t arity;      /* of the Merkle trees, 2 or 4 */
    whir_level level[WHIR_MAX_LEVELS];
} whir_params;

/* A circuit's committed shape, as the table knows it. */
typedef enum params_family { PARAMS_LEANXMSS = 0, PARAMS_HASH = 1, PARAMS_FAMILY_COUNT_ } params_family;

/* J = 10 and m = 3..16 for leanXMSS; J = 4 and m = 3..20 for hash batches; rate R = 1..6, or 0 for the default of the shape.
 * Returns NULL where there is no such row. */
const whir_params *params_lookup(params_family family, unsigned m, unsigned rate);
unsigned params_default_rate(params_family family, unsigned m);

/* ---- the ledger ---- */
typedef struct ledger_term {
    char name[48];
    double log2_error;      /* at most -128 for every shape */
    const char *source;     /* where the bound comes from */
} ledger_term;

/* The shape of the whole protocol that a ledger is of. */
typedef struct ledger_shape {
    params_family family;
    unsigned m, kappa, j_vars;  /* slots 2^m, row places 2^kappa, words 2^j_vars */
    unsigned bus_log;           /* b: 2^b places a side; ignored without a bus */
    int has_bus;
    uint64_t bus_factors;       /* leaves of the larger side and multiplicity powers */
    unsigned links;
    unsigned rate;
} ledger_shape;

#define LEDGER_MAX_TERMS (10 + 4 * WHIR_MAX_LEVELS)

/* The shape of the protocol's own circuits. Returns 0, or -1 where the table has no such row. */
int ledger_shape_init(ledger_shape *shape, params_family family, unsigned m, unsigned rate);
/* Fills terms (the first cap of them) and returns how many there are; 0 where the table has no such row. A term is the error
 * of one challenge, the largest of its group. Floating point; never on a verifier's path. */
size_t ledger_compute(ledger_term *terms, size_t cap, const ledger_shape *shape);
double ledger_security_bits(const ledger_shape *shape); /* minus the largest log2_error; 0 without a row */

#endif
