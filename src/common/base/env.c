/* Progress and cancelling.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base.h"

int env_progress(env *e, double fraction_of_step, const char *stage) {
    if (e == NULL)
        return 0;
    if (e->cancelled)
        return 1;
    if (e->progress == NULL)
        return 0;
    double f = fraction_of_step > 0 ? fraction_of_step : 0; /* also where it is not a number */
    if (f > 1)
        f = 1;
    double whole = e->progress_at + e->progress_span * f;
    if (e->progress(e->progress_ctx, whole > 1 ? 1 : whole, stage) != 0)
        e->cancelled = 1;
    return e->cancelled;
}
