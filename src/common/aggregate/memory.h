/* What proving takes, known before it starts.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_MEMORY_H
#define SHEAF_MEMORY_H

#include "aggregate.h"

/* The most bytes that proving `count` signatures or messages holds at once, by a prover with so many threads:
 * within a tenth of what sheaf_peak_bytes says afterwards. kind: SHEAF_KIND_...; log_inv_rate: 0 for the
 * default. 0 where there are no parameters, and UINT64_MAX where there is no memory for finding out. */
uint64_t aggregate_prove_bytes(unsigned kind, uint64_t count, unsigned log_inv_rate, unsigned threads);

#endif
