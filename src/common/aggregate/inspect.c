/* What a proof is made of.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "aggregate.h"

static const char *const part_names[] = {
    [MSG_HEADER] = "header",
    [MSG_ROOT] = "root",
    [MSG_MULTIPLICITY] = "multiplicity",
    [MSG_BUS_ROUND] = "bus_round",
    [MSG_BUS_TAIL] = "bus_tail",
    [MSG_V_OUT] = "v_out",
    [MSG_LAYER_ROUND] = "layer_round",
    [MSG_LAYER_TAIL] = "layer_tail",
    [MSG_INPUT_ROUND] = "input_round",
    [MSG_SLICES] = "slices",
    [MSG_WHIR_ROUND] = "whir_round",
    [MSG_OOD] = "out_of_domain",
    [MSG_NONCE] = "nonce",
    [MSG_OPENING] = "opening",
    [MSG_LAST_WORD] = "last_word",
};
_Static_assert(sizeof part_names / sizeof part_names[0] == MSG_KIND_COUNT_,
               "every kind of message has a name");
_Static_assert(MSG_KIND_COUNT_ <= SHEAF_INFO_MAX_PARTS, "sheaf_info has room for every part");
_Static_assert(WHIR_MAX_LEVELS <= SHEAF_INFO_MAX_LEVELS, "sheaf_info has room for every level");

static void fill_parameters(sheaf_info *info, const circuit *c, unsigned rate) {
    const whir_params *par = params_lookup(c->family, info->log_slots, rate);
    if (par == NULL)
        return; /* the header names a rate that no proof may have: the verdict says so */
    info->log_inv_rate = rate;
    info->log_words = par->log_words;
    info->n_levels = par->levels;
    info->last_log = par->last_log;
    info->arity = par->arity;
    for (unsigned i = 0; i < par->levels; i++) {
        const whir_level *l = &par->level[i];
        info->level[i] = (sheaf_level){l->fold, l->rate, l->grind, l->queries};
    }
    ledger_shape shape;
    if (ledger_shape_init(&shape, c->family, info->log_slots, rate) == 0)
        info->security_bits = ledger_security_bits(&shape);
}

static void fill_info(sheaf_info *info, const sheaf_statement *st, size_t len, const circuit *c,
                      const leaf_report *report) {
    info->kind = st->kind;
    info->count = st->count;
    info->epoch = st->epoch;
    info->envelope_bytes = len;
    info->proof_bytes = st->proof_len;
    info->statement_bytes = len - st->proof_len;
    info->log_slots = circuit_log_slots(st->count);
    info->permutations = c->rows;
    for (unsigned k = 0; k < MSG_KIND_COUNT_; k++)
        if (report->bytes_by_kind[k] > 0)
            info->part[info->n_parts++] = (sheaf_part){part_names[k], report->bytes_by_kind[k]};
    if (report->rate > 0)
        fill_parameters(info, c, report->rate);
}

sheaf_status sheaf_inspect(sheaf_info *info, const void *envelope, size_t len, sheaf_failure *f) {
    memset(info, 0, sizeof *info);
    sheaf_statement st;
    sheaf_status status = sheaf_statement_read(&st, envelope, len, f);
    if (status != SHEAF_OK)
        return status;
    aggregate_leaf a;
    status = aggregate_leaf_init(&a, &st);
    if (status != SHEAF_OK) {
        failure_set(f, status, SHEAF_CHECK_NONE, 0, "out of memory while preparing the statement");
        return status;
    }
    leaf_report report = {0};
    info->verdict = leaf_verify(st.proof, st.proof_len, &a.st, &report, &info->failure);
    fill_info(info, &st, len, &a.circuit, &report);
    aggregate_leaf_free(&a);
    return SHEAF_OK;
}
