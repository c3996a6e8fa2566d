/* The data behind params_lookup.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_PARAMS_TABLE_H
#define SHEAF_PARAMS_TABLE_H

#include "params.h"

/* The shapes that the table has: m = MIN_M .. MIN_M + SHAPES - 1. */
#define PARAMS_LEANXMSS_MIN_M 3
#define PARAMS_LEANXMSS_SHAPES 14
#define PARAMS_HASH_MIN_M 3
#define PARAMS_HASH_SHAPES 18

/* [m - MIN_M][R - 1]; no levels where there is no row. */
extern const whir_params params_leanxmss_rows[PARAMS_LEANXMSS_SHAPES][PARAMS_MAX_RATE];
extern const whir_params params_hash_rows[PARAMS_HASH_SHAPES][PARAMS_MAX_RATE];
/* [m - MIN_M]: the rate that R = 0 stands for. */
extern const uint8_t params_leanxmss_default[PARAMS_LEANXMSS_SHAPES];
extern const uint8_t params_hash_default[PARAMS_HASH_SHAPES];
/* FNV-1a over the table; tests/unit/test_params.c says of which bytes. */
extern const uint64_t params_table_checksum;

#endif
