/* Slot circuits as data.   docs/protocol.md 8.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_CIRCUIT_H
#define SHEAF_CIRCUIT_H

#include "../base/base.h"
#include "../field/gf192.h"
#include "../pcs/params.h"

typedef enum term_kind {
    TERM_CONST = 0,  /* coeff */
    TERM_WORD = 1,   /* coeff * committed word `a` of the slot */
    TERM_OUTPUT = 2, /* coeff * lane `b` of the output of row `a` */
    TERM_PUBLIC = 3, /* coeff * public column `a` */
    TERM_SLOT = 4    /* coeff * the slot's index as a K word */
} term_kind;

typedef struct term {
    uint8_t kind, b;
    uint16_t a;
    gf64 coeff;
} term;

typedef struct term_range { /* terms[first .. first+count) of the circuit's pool */
    uint32_t first, count;
} term_range;

typedef enum source_kind { SOURCE_CONST = 0, SOURCE_WORD = 1, SOURCE_PUBLIC = 2 } source_kind;
typedef struct lane_source {
    uint8_t kind;
    uint16_t a;     /* word or column */
    uint64_t value; /* constant */
} lane_source;

#define BUS_COORDS 8
typedef struct bus_tuple { /* coordinates past `count` are zero */
    uint32_t count;
    term_range coord[BUS_COORDS];
} bus_tuple;

typedef struct circuit {
    params_family family;
    unsigned words, j_vars; /* committed words a slot <= 2^j_vars */
    unsigned rows, kappa;   /* permutations a slot <= 2^kappa */
    unsigned publics;       /* public columns */
    lane_source *source;    /* rows x 25 */
    term *terms;
    size_t n_terms, cap_terms;
    term_range *links; /* each sums to zero in every slot */
    unsigned n_links, cap_links;
    unsigned bus_log; /* 2^bus_log places a side; 0 and no tuples: no bus */
    bus_tuple *push, *pull;
    unsigned n_push, n_pull, cap_push, cap_pull;
    gf64 (*table)[BUS_COORDS]; /* public look-up table: tuples pushed with multiplicities */
    unsigned n_table;
    unsigned table_pulls; /* pulls a slot that go to the table: the multiplicities sum to this times 2^m */
    uint64_t digest[4];   /* docs/protocol.md 8.6 */
} circuit;

/* Building. Everything returns -1 when out of memory or out of range; the circuit is then still to be freed.
 * circuit_free leaves it zero, and does nothing to a zero one. */
int circuit_init(circuit *c, params_family family, unsigned words, unsigned j_vars, unsigned rows,
                 unsigned kappa, unsigned publics);
void circuit_free(circuit *c);
/* Lanes without a source are the constant 0. */
int circuit_set_source(circuit *c, unsigned row, unsigned lane, lane_source source);
int circuit_add_term(circuit *c, term t); /* appends to the pool */
/* Appends n terms and says where they are. */
int circuit_add_form(circuit *c, term_range *form, const term *t, size_t n);
int circuit_add_link(circuit *c, const term *t, size_t n);
typedef enum bus_side { BUS_PUSH = 0, BUS_PULL = 1 } bus_side;
int circuit_add_tuple(circuit *c, bus_side side, bus_tuple tuple); /* the next place of the side */
int circuit_set_table(circuit *c, const gf64 (*entries)[BUS_COORDS], unsigned n, unsigned pulls);
int circuit_finish(circuit *c); /* validates every index and computes the digest; c->bus_log is set by then */

static inline int circuit_has_bus(const circuit *c) {
    return c->n_push + c->n_pull > 0;
}
unsigned circuit_log_slots(uint64_t signers); /* m = max(3, ceil(log2 S)) */

/* Hash batch: 16 committed words, one row, four public columns (the digest).   docs/protocol.md 9.1 */
int circuit_build_hash(circuit *c);
/* leanXMSS: docs/protocol.md 9.2. message: four words.   (circuit/leanxmss_layout.h numbers its words and
 * rows.) Both: -1 when out of memory, and *c is zero. */
int circuit_build_leanxmss(circuit *c, uint32_t epoch, const uint64_t message[4]);

/* The public columns, publics[p * n + s], of n digests or public keys of 32 bytes each. */
void circuit_hash_publics(uint64_t *publics, size_t n, const uint8_t *digests);
void circuit_leanxmss_publics(uint64_t *publics, size_t n, const uint8_t *public_keys);

#endif
