/* Files and streams of the command, its context, its progress bar.  SPDX-License-Identifier: MIT OR
 * Apache-2.0 */
#include "../base/posix.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "../base/io.h"
#include "../base/stages.h"
#include "../sig/keyfile.h"
#include "cli.h"

const char *cli_name(const char *file, int output) {
    if (strcmp(file, "-") != 0)
        return file;
    return output ? "standard output" : "standard input";
}

int cli_read(const cli *c, const char *file, size_t limit, uint8_t **data, size_t *len) {
    sheaf_failure f = {0};
    sheaf_status status = io_read(data, len, file, limit, &f);
    return status == SHEAF_OK ? CLI_OK : cli_failure(c, file, status, &f);
}

int cli_check_output(const cli *c, const char *file) {
    if (*file == '\0')
        return cli_error(c, NULL, "--output", "is empty");
    sheaf_failure f = {0};
    sheaf_status status = io_check_write(file, &f);
    return status == SHEAF_OK ? CLI_OK : cli_failure(c, cli_name(file, 1), status, &f);
}

int cli_write(const cli *c, const char *file, const void *data, size_t len) {
    /* Only keygen writes keys, and never over one: what a mistyped name would destroy cannot be made again.
     */
    int secret = strcmp(file, "-") == 0 ? 0 : keyfile_is_secret(file);
    if (secret > 0)
        return cli_error(c, file, NULL, "is a key or a key's journal, which is never overwritten");
    if (secret < 0)
        return cli_error(c, file, NULL, "cannot be read to see that it is no key: not overwritten");
    sheaf_failure f = {0};
    sheaf_status status = io_write(file, data, len, IO_REPLACE, &f);
    return status == SHEAF_OK ? CLI_OK : cli_failure(c, cli_name(file, 1), status, &f);
}

/* ---- stopping ---- */

static volatile sig_atomic_t stop_asked;

static void on_signal(int number) {
    (void)number;
    stop_asked = 1;
}

void cli_prepare_process(void) {
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN);
#endif
}

void progress_catch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- the bar ---- */

enum { BAR_WIDTH = 40 };
static const double bar_after = 1.0, bar_every = 0.1; /* seconds */

void progress_begin(progress_bar *b, const cli *c, const char *what) {
    *b = (progress_bar){
        .what = what, .begin = stage_seconds(), .enabled = !c->quiet && isatty(STDERR_FILENO) == 1};
}

int progress_report(void *bar, double fraction, const char *stage) {
    progress_bar *b = bar;
    double now = stage_seconds();
    if (b->enabled && now - b->begin >= bar_after && now - b->shown_at >= bar_every) {
        char filled[BAR_WIDTH + 1];
        int n = (int)(fraction * BAR_WIDTH);
        memset(filled, ' ', BAR_WIDTH);
        memset(filled, '=', (size_t)(n < 0 ? 0 : n > BAR_WIDTH ? BAR_WIDTH : n));
        filled[BAR_WIDTH] = '\0';
        fprintf(stderr, "\r%s [%s] %3.0f%% %-20.20s", b->what, filled, 100 * fraction,
                stage != NULL ? stage : "");
        fflush(stderr);
        b->shown = 1;
        b->shown_at = now;
    }
    return stop_asked;
}

void progress_end(progress_bar *b) {
    if (b->shown)
        fprintf(stderr, "\r\033[K");
    b->shown = 0;
}

int cli_context(const cli *c, sheaf_context **ctx, progress_bar *bar, const char *what) {
    progress_begin(bar, c, what);
    progress_catch_signals();
    sheaf_options options = {.threads = c->threads,
                             .log_inv_rate = c->log_inv_rate,
                             .progress = progress_report,
                             .progress_ctx = bar};
    sheaf_status status = sheaf_context_create(ctx, &options);
    return status == SHEAF_OK ? CLI_OK : cli_failure(c, NULL, status, NULL);
}
