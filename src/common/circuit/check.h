/* Does a witness satisfy its circuit?  Plainly, without a proof: for tests and for looking for the fault.
 *   docs/protocol.md 8.1.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_CHECK_H
#define SHEAF_CHECK_H

#include "circuit.h"

typedef struct circuit_report {
    /* Pairs of a link and a slot that it does not hold in, and the first of them, slots in order. */
    uint64_t bad_links;
    unsigned link;
    uint64_t link_slot;
    /* Distinct tuples that are not pushed as often as they are pulled; of them the one that has the first
     * place, by slot, side and place; a table's entry comes after all slots (slot 2^m, place the entry). */
    uint64_t bad_tuples;
    gf64 tuple[BUS_COORDS];
    bus_side side;
    unsigned place;
    uint64_t tuple_slot;
    uint64_t pushes, pulls;
    /* A multiplicity is above table_pulls 2^m, or their sum is not it. */
    int bad_multiplicities;
} circuit_report;

/* words[j * signers + s], publics[p * signers + s]; slots up to 2^m repeat the last one. 0: satisfied; 1:
 * not, *report says where; -1: out of memory. */
SHEAF_MUST_CHECK int circuit_check(circuit_report *report, const circuit *c, unsigned m, uint64_t signers,
                                   const uint64_t *words, const uint64_t *publics,
                                   const uint64_t *multiplicities);

#endif
