/* Key files under fire: processes killed and steps failing at every point, several signers at once, stale
 * locks. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The library's hook is called before every step that touches a file. A child process counts them and ends
 * itself by SIGKILL at the n-th; the test goes over all n until a child gets through. What must hold each
 * time: the key is whole or was never made, no epoch ever gives signatures on two messages, and the same
 * message succeeds when tried again. */
#include "base/posix.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "support/key_folder.h"

/* ---- the hook ---- */

static int step_counter, step_target;
static const char *step_wanted;
static int hook_pipe[2];

static int kill_at_target(const char *step) {
    (void)step;
    if (++step_counter == step_target)
        raise(SIGKILL);
    return 0;
}

static int fail_at_target(const char *step) {
    (void)step;
    return ++step_counter == step_target;
}

static int fail_at_name(const char *step) {
    return strcmp(step, step_wanted) == 0;
}

/* Says that it is there and waits to be killed. */
static int wait_at_name(const char *step) {
    if (strcmp(step, step_wanted) == 0) {
        if (write(hook_pipe[1], "x", 1) != 1)
            _exit(3);
        for (;;)
            pause();
    }
    return 0;
}

/* ---- children ---- */

enum { RUN_KILLED = 1, RUN_DONE = 2 };

typedef struct child_result {
    int run; /* RUN_KILLED or RUN_DONE; else the child went wrong */
    int status;
    int signature_left;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
} child_result;

/* A child that signs (which in 0..1) or creates (which < 0), killed at step n; n = 0: at none. */
static child_result run_child(const key_folder *d, int n, uint32_t epoch, int which) {
    child_result r = {0};
    int out[2];
    if (pipe(out) != 0)
        return r;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct {
            int status;
            uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
        } made;
        memset(&made, 0, sizeof made);
        step_counter = 0;
        step_target = n;
        keyfile_test_hook = kill_at_target;
        made.status = (int)(which < 0 ? test_key_create(d, NULL)
                                      : test_key_sign(d, made.signature, NULL, epoch, (unsigned)which, NULL));
        _exit(write(out[1], &made, sizeof made) == (ssize_t)sizeof made ? 0 : 3);
    }
    close(out[1]);
    uint8_t bytes[sizeof(int) + LEANXMSS_SIGNATURE_BYTES];
    ssize_t got = read(out[0], bytes, sizeof bytes); /* less than PIPE_BUF: whole or not at all */
    close(out[0]);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return r;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && got == 0)
        r.run = RUN_KILLED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && got == (ssize_t)sizeof bytes) {
        r.run = RUN_DONE;
        memcpy(&r.status, bytes, sizeof r.status);
        memcpy(r.signature, bytes + sizeof(int), LEANXMSS_SIGNATURE_BYTES);
        r.signature_left = which >= 0 && r.status == SHEAF_OK;
    }
    return r;
}

static int verifies(const key_folder *d, const uint8_t *signature, uint32_t epoch, unsigned which) {
    keyfile *k;
    uint8_t message[32];
    test_message(message, epoch, which);
    if (keyfile_open(&k, d->key, NULL, NULL) != SHEAF_OK)
        return 0;
    int ok = leanxmss_verify(keyfile_public_key(k), epoch, message, signature) == 0;
    keyfile_close(k);
    return ok;
}

/* ---- creating ---- */

/* The key is there whole, and signs; or there is none, and creating it again succeeds. */
static void check_created(const key_folder *d) {
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    keyfile_note note;
    if (!there(d->key))
        CHECK_EQ_INT(test_key_create(d, NULL), SHEAF_OK);
    sheaf_failure f = {0};
    if (!CHECK_EQ_INT(test_key_sign(d, signature, &note, TEST_FIRST, 0, &f), SHEAF_OK))
        printf("  %s\n", f.message);
    CHECK(verifies(d, signature, TEST_FIRST, 0));
    CHECK_EQ_INT(test_key_sign(d, signature, &note, TEST_FIRST, 1, NULL), SHEAF_EPOCH_USED);
    CHECK(!there(d->lock) && !there(d->unfinished));
    CHECK_EQ_INT(key_folder_empty(d), 2);
}

TEST(a_key_whose_making_is_killed_is_usable_or_was_never_made) {
    key_folder d;
    REQUIRE(key_folder_make(&d) == 0);
    int n = 1, made = 0;
    for (;; n++) {
        child_result r = run_child(&d, n, 0, -1);
        made += r.run == RUN_KILLED && there(d.key);
        REQUIRE(r.run == RUN_KILLED || r.run == RUN_DONE);
        check_created(&d);
        if (r.run == RUN_DONE) {
            CHECK_EQ_INT(r.status, SHEAF_OK);
            break;
        }
    }
    CHECK(n > 15); /* points, of which */
    CHECK(made >= 3 && made < n - 8);
    key_folder_remove(&d);
}

TEST(a_key_whose_making_fails_is_usable_or_was_never_made) {
    key_folder d;
    REQUIRE(key_folder_make(&d) == 0);
    int n = 1, errors = 0;
    for (;; n++) {
        sheaf_failure f = {0};
        keyfile_test_hook = fail_at_target;
        step_counter = 0;
        step_target = n;
        sheaf_status status = test_key_create(&d, &f);
        keyfile_test_hook = NULL;
        if (status != SHEAF_OK) {
            errors++;
            CHECK_EQ_INT(status, SHEAF_IO);
            CHECK(f.message[0] != '\0');
        }
        check_created(&d);
        if (step_counter < n)
            break;
    }
    CHECK(errors >= 12);
    key_folder_remove(&d);
}

/* ---- signing ---- */

enum { EPOCH = TEST_FIRST + 2 };

/* What lies in the folder before the child signs EPOCH. */
typedef enum before { FRESH, TORN_SAME, TORN_OTHER, TORN_SHORT, STALE_LOCK, REPEAT, BEFORE_COUNT } before;

static uint8_t
    whole_journal[JOURNAL_HEADER_BYTES + 3 * JOURNAL_RECORD_BYTES]; /* 64, 65, EPOCH, each on message 0 */
static uint8_t dead_lock[512];
static long dead_lock_len;

static int prepare_once(const key_folder *d) {
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    if (test_key_create(d, NULL) != SHEAF_OK)
        return -1;
    for (uint32_t e = TEST_FIRST; e <= EPOCH; e++)
        if (test_key_sign(d, signature, NULL, e, 0, NULL) != SHEAF_OK)
            return -1;
    if (file_get(d->journal, whole_journal, sizeof whole_journal) != (long)sizeof whole_journal)
        return -1;
    for (int n = 1; n < 20; n++) { /* a lock that a killed process left */
        if (run_child(d, n, EPOCH, 0).run != RUN_KILLED)
            return -1;
        dead_lock_len = file_get(d->lock, dead_lock, sizeof dead_lock);
        if (dead_lock_len > 0)
            return unlink(d->lock);
    }
    return -1;
}

static void prepare(const key_folder *d, before state) {
    size_t two = JOURNAL_HEADER_BYTES + 2 * JOURNAL_RECORD_BYTES, len = two;
    uint8_t journal[sizeof whole_journal];
    memcpy(journal, whole_journal, sizeof journal);
    unlink(d->lock);
    if (state == TORN_SAME)
        len = two + 50;
    if (state == TORN_OTHER) {
        store32_le(journal + two, EPOCH + 1);
        len = two + 50;
    }
    if (state == TORN_SHORT)
        len = two + 3;
    if (state == REPEAT)
        len = sizeof whole_journal;
    if (state == STALE_LOCK)
        CHECK(file_put(d->lock, dead_lock, (size_t)dead_lock_len) == 0);
    CHECK(file_put(d->journal, journal, len) == 0);
}

/* After a child that wanted to sign message 0 at EPOCH and may have been killed or failed: the other message
 * first, if asked, then both; `left` says that message 0's signature left already. At most one message may
 * ever have one. */
static void check_one_message(const key_folder *d, int left, int other_first, before state) {
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES], other[LEANXMSS_SIGNATURE_BYTES];
    int left_other = 0;
    if (other_first) {
        sheaf_status status = test_key_sign(d, other, NULL, EPOCH, 1, NULL);
        CHECK(status == SHEAF_OK || status == SHEAF_EPOCH_USED);
        left_other = status == SHEAF_OK;
        if (state == TORN_SAME || state == REPEAT)
            CHECK_EQ_INT(status, SHEAF_EPOCH_USED);
    }
    sheaf_status status = test_key_sign(d, signature, NULL, EPOCH, 0, NULL);
    if (!left_other) { /* the same message again always succeeds */
        CHECK_EQ_INT(status, SHEAF_OK);
        CHECK(verifies(d, signature, EPOCH, 0));
        left = 1;
    } else {
        CHECK_EQ_INT(status, SHEAF_EPOCH_USED);
        CHECK(verifies(d, other, EPOCH, 1));
    }
    CHECK(!(left && left_other));
    CHECK_EQ_INT(test_key_sign(d, other, NULL, EPOCH, 1, NULL), left_other ? SHEAF_OK : SHEAF_EPOCH_USED);
    /* Epochs that signed before are still what they were; the withdrawn one stays so. */
    CHECK_EQ_INT(test_key_sign(d, other, NULL, TEST_FIRST, 1, NULL), SHEAF_EPOCH_USED);
    CHECK_EQ_INT(test_key_sign(d, other, NULL, TEST_FIRST + 1, 0, NULL), SHEAF_OK);
    if (state == TORN_OTHER)
        CHECK_EQ_INT(test_key_sign(d, other, NULL, EPOCH + 1, 1, NULL), SHEAF_EPOCH_USED);
    CHECK(!there(d->lock));
}

TEST(a_signing_process_killed_anywhere_never_leads_to_two_messages) {
    key_folder d;
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    for (int state = 0; state < BEFORE_COUNT; state++)
        for (int other_first = 0; other_first < 2; other_first++) {
            int n = 1, recorded = 0;
            for (;; n++) {
                prepare(&d, (before)state);
                child_result r = run_child(&d, n, EPOCH, 0);
                REQUIRE(r.run == RUN_KILLED || r.run == RUN_DONE);
                if (r.run == RUN_DONE) {
                    CHECK_EQ_INT(r.status, SHEAF_OK);
                    CHECK(verifies(&d, r.signature, EPOCH, 0));
                }
                recorded +=
                    r.run == RUN_KILLED && test_key_sign(&d, r.signature, NULL, EPOCH, 0, NULL) == SHEAF_OK;
                if (r.run == RUN_KILLED) { /* the call above was a retry: do the same again without it */
                    prepare(&d, (before)state);
                    CHECK_EQ_INT(run_child(&d, n, EPOCH, 0).run, RUN_KILLED);
                }
                check_one_message(&d, r.signature_left, other_first, (before)state);
                if (r.run == RUN_DONE)
                    break;
            }
            CHECK(n > 8);
            CHECK_EQ_INT(recorded, n - 1);
        }
    key_folder_remove(&d);
}

TEST(a_step_that_fails_anywhere_never_leads_to_two_messages) {
    key_folder d;
    static const uint8_t zero[LEANXMSS_SIGNATURE_BYTES];
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    for (int state = 0; state < BEFORE_COUNT; state++)
        for (int other_first = 0; other_first < 2; other_first++) {
            int errors = 0;
            for (int n = 1;; n++) {
                uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
                sheaf_failure f = {0};
                prepare(&d, (before)state);
                keyfile_test_hook = fail_at_target;
                step_counter = 0;
                step_target = n;
                sheaf_status status = test_key_sign(&d, signature, NULL, EPOCH, 0, &f);
                keyfile_test_hook = NULL;
                if (status != SHEAF_OK) {
                    errors++;
                    CHECK(status == SHEAF_IO || (state == STALE_LOCK && status == SHEAF_LOCKED));
                    CHECK_MEM(signature, zero, sizeof zero);
                    if (status == SHEAF_LOCKED) /* without flock a stale lock is not taken over */
                        CHECK(strstr(f.message, "remove the lock") != NULL);
                }
                check_one_message(&d, status == SHEAF_OK, other_first, (before)state);
                if (step_counter < n)
                    break;
            }
            CHECK(errors >= 4);
        }
    key_folder_remove(&d);
}

TEST(a_record_that_the_disk_refused_is_taken_back) {
    key_folder d;
    uint8_t journal[sizeof whole_journal + 1], signature[LEANXMSS_SIGNATURE_BYTES];
    static const char *const steps[] = {"write record", "sync record"};
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    const long two = JOURNAL_HEADER_BYTES + 2 * JOURNAL_RECORD_BYTES;
    for (size_t i = 0; i < 2; i++) {
        prepare(&d, FRESH);
        step_wanted = steps[i];
        keyfile_test_hook = fail_at_name;
        CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, NULL), SHEAF_IO);
        keyfile_test_hook = NULL;
        CHECK_EQ_INT(file_get(d.journal, journal, sizeof journal), two);
        CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 1, NULL), SHEAF_OK);
        CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, NULL), SHEAF_EPOCH_USED);
    }
    /* A record found in the journal is waited for again before its signature leaves. */
    prepare(&d, REPEAT);
    step_wanted = "sync journal again";
    keyfile_test_hook = fail_at_name;
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, NULL), SHEAF_IO);
    keyfile_test_hook = NULL;
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, NULL), SHEAF_OK);
    key_folder_remove(&d);
}

/* ---- several signers ---- */

enum { SIGNERS = 3, ROUNDS = 40 };

/* Tries until the key is free. */
static sheaf_status sign_patiently(const key_folder *d, uint8_t *signature, uint32_t epoch, unsigned which) {
    const struct timespec a_moment = {0, 200000};
    sheaf_failure f = {0};
    for (int tries = 0; tries < 300000; tries++) { /* a busy disk may hold another signer's fsync up for seconds */
        sheaf_status status = test_key_sign(d, signature, NULL, epoch, which, &f);
        if (status != SHEAF_LOCKED) {
            if (status != SHEAF_OK && status != SHEAF_EPOCH_USED) {
                printf("  epoch %u: %s\n", (unsigned)epoch, f.message);
                fflush(stdout);
            }
            return status;
        }
        nanosleep(&a_moment, NULL);
    }
    return SHEAF_LOCKED;
}

/* Each round: signers start together, two messages between them, an empty journal; every other round finds a
 * stale lock. All signatures of the round must be on one message. */
TEST(signers_at_once_never_sign_two_messages) {
    key_folder d;
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    int wins[2] = {0, 0};
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t epoch = TEST_FIRST + (uint32_t)round % 8;
        int start[2], out[2];
        pid_t pids[SIGNERS];
        prepare(&d, round % 2 ? STALE_LOCK : FRESH);
        CHECK(file_put(d.journal, whole_journal, JOURNAL_HEADER_BYTES) == 0);
        REQUIRE(pipe(start) == 0 && pipe(out) == 0);
        fflush(stdout);
        for (int i = 0; i < SIGNERS; i++) {
            unsigned which = (unsigned)(i + round / 8) & 1;
            pids[i] = fork();
            if (pids[i] == 0) {
                uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
                char said[2] = {(char)which, 0}, byte;
                close(start[1]);
                if (read(start[0], &byte, 1) != 0) /* ends when the parent closes its side */
                    _exit(3);
                said[1] = (char)sign_patiently(&d, signature, epoch, which);
                if (said[1] == SHEAF_OK && !verifies(&d, signature, epoch, which))
                    said[1] = 99;
                _exit(write(out[1], said, 2) == 2 ? 0 : 3);
            }
        }
        close(start[0]);
        close(start[1]);
        close(out[1]);
        int signed_by[2] = {0, 0}, refused = 0, answers = 0;
        char said[2];
        while (read(out[0], said, 2) == 2) {
            answers++;
            if (said[1] == SHEAF_OK)
                signed_by[said[0] & 1]++;
            else
                refused += said[1] == SHEAF_EPOCH_USED;
        }
        close(out[0]);
        for (int i = 0; i < SIGNERS; i++)
            CHECK(waitpid(pids[i], NULL, 0) == pids[i]);
        CHECK_EQ_INT(answers, SIGNERS);
        CHECK((signed_by[0] == 0) != (signed_by[1] == 0)); /* one message, and one has won */
        CHECK_EQ_INT(signed_by[0] + signed_by[1] + refused, SIGNERS);
        wins[signed_by[1] != 0]++;
        CHECK(!there(d.lock));
    }
    CHECK_EQ_INT(wins[0] + wins[1], ROUNDS);
    key_folder_remove(&d);
}

/* ---- locks ---- */

/* A child that signs epoch 71 and stops at the step; its process id, or -1. */
static pid_t hold_at(const key_folder *d, const char *step) {
    char byte;
    if (pipe(hook_pipe) != 0)
        return -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
        step_wanted = step;
        keyfile_test_hook = wait_at_name;
        _exit(test_key_sign(d, signature, NULL, 71, 0, NULL) == SHEAF_OK ? 0 : 3);
    }
    close(hook_pipe[1]);
    ssize_t n = read(hook_pipe[0], &byte, 1);
    close(hook_pipe[0]);
    return n == 1 ? pid : -1;
}

static void end_child(pid_t pid) {
    CHECK(pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
}

static int names_process(const char *text, pid_t pid) {
    char name[40];
    snprintf(name, sizeof name, "process %ld", (long)pid);
    return strstr(text, name) != NULL;
}

TEST(a_living_signer_is_named_and_a_dead_ones_lock_taken_over) {
    static const char *const steps[] = {"open journal", "read journal", "write record", "sync record",
                                        "remove lock"};
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        sheaf_failure f = {0};
        keyfile_note note;
        prepare(&d, FRESH);
        pid_t pid = hold_at(&d, steps[i]);
        REQUIRE(pid > 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, EPOCH, 0, &f), SHEAF_LOCKED);
        CHECK(names_process(f.message, pid));
        end_child(pid);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, EPOCH, 0, &f), SHEAF_OK);
        CHECK(strstr(note.notice, "took over the lock") != NULL && names_process(note.notice, pid));
        CHECK(!there(d.lock));
    }
    key_folder_remove(&d);
}

TEST(a_lock_without_a_name_yet_is_respected_while_its_maker_lives) {
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f = {0};
    keyfile_note note;
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    prepare(&d, FRESH);
    pid_t pid = hold_at(&d, "write lock");
    REQUIRE(pid > 0);
    CHECK_EQ_INT(test_key_sign(&d, signature, &note, EPOCH, 0, &f), SHEAF_LOCKED);
    end_child(pid);
    CHECK_EQ_INT(test_key_sign(&d, signature, &note, EPOCH, 0, &f), SHEAF_OK);
    CHECK_STR(note.notice, "took over an unfinished lock file");
    key_folder_remove(&d);
}

TEST(removing_the_lock_of_a_living_signer_does_not_let_another_sign) {
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f = {0};
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    prepare(&d, FRESH);
    pid_t pid = hold_at(&d, "write record");
    REQUIRE(pid > 0);
    CHECK(unlink(d.lock) == 0);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, &f), SHEAF_LOCKED);
    CHECK(strstr(f.message, "writing the journal") != NULL);
    end_child(pid);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, &f), SHEAF_OK);
    key_folder_remove(&d);
}

static const key_folder *replaced_in;
static pid_t replaced_by;

/* Between another's opening of a lock and its taking it: the lock goes away, and a third process makes its
 * own. */
static int replace_lock_once(const char *step) {
    if (replaced_by == 0 && strcmp(step, "flock lock") == 0) {
        replaced_by = -1; /* the child inherits this */
        unlink(replaced_in->lock);
        replaced_by = hold_at(replaced_in, "write record");
    }
    return 0;
}

TEST(a_lock_that_is_no_longer_at_its_name_is_no_lock) {
    key_folder d;
    uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
    sheaf_failure f = {0};
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    prepare(&d, STALE_LOCK);
    replaced_in = &d;
    replaced_by = 0;
    keyfile_test_hook = replace_lock_once;
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, &f), SHEAF_LOCKED);
    keyfile_test_hook = NULL;
    REQUIRE(replaced_by > 0);
    CHECK(names_process(f.message, replaced_by));
    end_child(replaced_by);
    CHECK_EQ_INT(test_key_sign(&d, signature, NULL, EPOCH, 0, &f), SHEAF_OK);
    key_folder_remove(&d);
}

/* The value of a line of the lock that the killed process left. */
static void lock_value(char out[64], const char *line) {
    char text[sizeof dead_lock + 1];
    memcpy(text, dead_lock, sizeof dead_lock);
    text[dead_lock_len] = '\0';
    const char *at = strstr(text, line);
    snprintf(out, 64, "%.*s", at != NULL ? (int)strcspn(at + strlen(line), "\n") : 0,
             at != NULL ? at + strlen(line) : "");
}

TEST(a_lock_is_stale_only_where_its_process_is_surely_gone) {
    key_folder d;
    char pid[64], start[64], boot[64], machine[64], host[64], self[64];
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    lock_value(pid, "\npid ");
    lock_value(start, "\nstart ");
    lock_value(boot, "\nboot ");
    lock_value(machine, "\nmachine ");
    lock_value(host, "\nhost ");
    snprintf(self, sizeof self, "%ld", (long)getpid());
    const int has_start = strcmp(start, "0") != 0, has_machine = strcmp(machine, "-") != 0;
    const char *const other = "00000000-0000-0000-0000-000000000000";
    const struct {
        const char *pid, *start, *boot, *machine, *host, *end;
        sheaf_status want;
        const char *said;
    } cases[] = {
        {pid, start, boot, machine, host, "end\n", SHEAF_OK, "which is gone"},
        {pid, "0", boot, machine, host, "end\n", SHEAF_OK, "which is gone"},
        {self, "0", boot, machine, host, "end\n", SHEAF_LOCKED, "in use by process"},
        /* Our number, but a process that began at another time: it is gone and the number was given again. */
        {self, "1", boot, machine, host, "end\n", has_start ? SHEAF_OK : SHEAF_LOCKED,
         has_start ? "gone" : "in use"},
        {pid, start, boot, machine, "elsewhere", "end\n", SHEAF_LOCKED, "on host elsewhere, not this one"},
        {pid, start, other, machine, host, "end\n", has_machine ? SHEAF_OK : SHEAF_LOCKED,
         has_machine ? "restart" : "another boot"},
        {pid, start, other, "-", host, "end\n", SHEAF_LOCKED, "another boot"},
        {pid, start, other, "0123456789abcdef", host, "end\n", SHEAF_LOCKED, "another boot"},
        /* Not whole, or not of the form: nobody had it for long enough to sign. */
        {pid, start, boot, machine, "elsewhere", "", SHEAF_OK, "unfinished"},
        {pid, start, boot, machine, "elsewhere", "end\nmore\n", SHEAF_OK, "unfinished"},
        {"0", start, boot, machine, host, "end\n", SHEAF_OK, "unfinished"},
        {"99999999999999999999999", start, boot, machine, host, "end\n", SHEAF_OK, "unfinished"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
        sheaf_failure f = {0};
        keyfile_note note;
        char text[600];
        int n = snprintf(text, sizeof text,
                         "sheaf lock 1\npid %s\nstart %s\nboot %s\nmachine %s\nhost %s\n%s", cases[i].pid,
                         cases[i].start, cases[i].boot, cases[i].machine, cases[i].host, cases[i].end);
        prepare(&d, FRESH);
        CHECK(file_put(d.lock, text, (size_t)n) == 0);
        CHECK_EQ_INT(test_key_sign(&d, signature, &note, EPOCH, 0, &f), cases[i].want);
        const char *said = cases[i].want == SHEAF_OK ? note.notice : f.message;
        if (!CHECK(strstr(said, cases[i].said) != NULL))
            printf("  \"%s\" is not in: %s\n", cases[i].said, said);
        CHECK_EQ_INT(there(d.lock), cases[i].want != SHEAF_OK);
        if (cases[i].want == SHEAF_LOCKED)
            CHECK(strstr(f.message, "a.key.lock") != NULL); /* what to remove */
    }
    key_folder_remove(&d);
}

/* Many processes find the same stale lock at once; killed ones leave the next. */
TEST(of_many_that_find_a_stale_lock_one_takes_it) {
    key_folder d;
    REQUIRE(key_folder_make(&d) == 0);
    REQUIRE(prepare_once(&d) == 0);
    for (int round = 0; round < 20; round++) {
        int start[2];
        pid_t pids[4];
        prepare(&d, STALE_LOCK);
        CHECK(file_put(d.journal, whole_journal, JOURNAL_HEADER_BYTES) == 0);
        REQUIRE(pipe(start) == 0);
        fflush(stdout);
        for (int i = 0; i < 4; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
                char byte;
                close(start[1]);
                if (read(start[0], &byte, 1) != 0)
                    _exit(3);
                step_counter = 0;
                step_target = i < 2 ? 2 + (round + 3 * i) % 9 : 0; /* two of them die on the way */
                keyfile_test_hook = kill_at_target;
                _exit(sign_patiently(&d, signature, 64 + (uint32_t)i, 0) == SHEAF_OK ? 0 : 3);
            }
        }
        close(start[0]);
        close(start[1]);
        for (int i = 0; i < 4; i++) {
            int status;
            CHECK(waitpid(pids[i], &status, 0) == pids[i]);
            CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (i < 2 && WIFSIGNALED(status)));
        }
        /* Whoever got through is in the journal, whose chain is whole. */
        uint8_t signature[LEANXMSS_SIGNATURE_BYTES];
        for (uint32_t e = 66; e < 68; e++) {
            keyfile_note note;
            CHECK_EQ_INT(test_key_sign(&d, signature, &note, e, 0, NULL), SHEAF_OK);
            CHECK_EQ_INT(note.repeated, 1);
        }
    }
    key_folder_remove(&d);
}

T_MAIN()
