/* Looking up the frozen parameters.   docs/protocol.md 6.6.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "params_table.h"

typedef struct family_table {
    unsigned min_m, shapes;
    const whir_params (*rows)[PARAMS_MAX_RATE];
    const uint8_t *default_rate;
} family_table;

static const family_table *table_of(params_family family) {
    static const family_table leanxmss = {PARAMS_LEANXMSS_MIN_M, PARAMS_LEANXMSS_SHAPES, params_leanxmss_rows,
                                          params_leanxmss_default};
    static const family_table hash = {PARAMS_HASH_MIN_M, PARAMS_HASH_SHAPES, params_hash_rows,
                                      params_hash_default};
    switch (family) {
    case PARAMS_LEANXMSS:
        return &leanxmss;
    case PARAMS_HASH:
        return &hash;
    default:
        return NULL;
    }
}

unsigned params_default_rate(params_family family, unsigned m) {
    const family_table *t = table_of(family);
    if (t == NULL || m < t->min_m || m - t->min_m >= t->shapes)
        return 0;
    return t->default_rate[m - t->min_m];
}

const whir_params *params_lookup(params_family family, unsigned m, unsigned rate) {
    const family_table *t = table_of(family);
    if (t == NULL || m < t->min_m || m - t->min_m >= t->shapes || rate > PARAMS_MAX_RATE)
        return NULL;
    if (rate == 0)
        rate = t->default_rate[m - t->min_m];
    const whir_params *row = &t->rows[m - t->min_m][rate - 1];
    return row->levels != 0 ? row : NULL;
}
