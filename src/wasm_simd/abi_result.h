/* What the halves of the flat interface share.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_WASM_ABI_RESULT_H
#define SHEAF_WASM_ABI_RESULT_H

#include "abi.h"
#include "base/base.h"

/* Fills *r from a status and, where that is not SHEAF_OK, from f (which may be NULL). Returns the status. */
uint32_t result_of(sheaf_wasm_result *r, sheaf_status status, const sheaf_failure *f);

#endif
