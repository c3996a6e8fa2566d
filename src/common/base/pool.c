/* A pool of threads that share out numbered tasks.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SHEAF_NO_THREADS
#include "posix.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif
#include <assert.h>
#include "base.h"

enum {
    MOST_THREADS = 1024,
    SHARE = 8 /* a worker takes an eighth of its share of what is left: single tasks in the end */
};

static void run_here(size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx) {
    for (size_t i = 0; i < tasks; i++)
        fn(ctx, i, 0);
}

#ifdef SHEAF_NO_THREADS

struct pool {
    unsigned threads;
};

pool *pool_create(unsigned threads) {
    (void)threads; /* there is only this one */
    pool *p = malloc(sizeof *p);
    if (p != NULL)
        p->threads = 1;
    return p;
}

void pool_destroy(pool *p) {
    free(p);
}

unsigned pool_threads(const pool *p) {
    return p != NULL ? p->threads : 1;
}

void pool_run(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx) {
    (void)p;
    run_here(tasks, fn, ctx);
}

#else

enum { SPINS = 2000 }; /* looks before sleeping: the runs of a proof follow each other closely */

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

typedef struct worker {
    struct pool *pool;
    unsigned index; /* 1..threads-1; the calling thread is worker 0 */
    pthread_t id;
} worker;

struct pool {
    unsigned threads;
    unsigned started; /* threads that exist */
    worker *workers;  /* threads - 1 of them */
    pthread_mutex_t lock;
    pthread_cond_t work; /* a run has opened, or the pool stops */
    pthread_cond_t done; /* the last worker has left a closed run */
    /* Under the lock: */
    unsigned inside; /* workers in the run; one that wakes late finds it closed and does not join */
    int open, stop;
    /* Of the run; written before it opens: */
    void (*fn)(void *ctx, size_t task, unsigned worker);
    void *ctx;
    size_t tasks;
    /* Atomic: */
    unsigned generation; /* of runs */
    size_t next;         /* first task that nobody has taken */
};

static void take_tasks(pool *p, unsigned index) {
    size_t first = __atomic_load_n(&p->next, __ATOMIC_RELAXED);
    while (first < p->tasks) {
        size_t chunk = (p->tasks - first) / ((size_t)p->threads * SHARE);
        size_t end = first + (chunk > 0 ? chunk : 1);
        if (!__atomic_compare_exchange_n(&p->next, &first, end, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue; /* first is now what another worker left */
        for (size_t i = first; i < end; i++)
            p->fn(p->ctx, i, index);
        first = __atomic_load_n(&p->next, __ATOMIC_RELAXED);
    }
}

static void *worker_main(void *arg) {
    worker *w = arg;
    pool *p = w->pool;
    unsigned seen = 0;
    for (;;) {
        for (int i = 0; i < SPINS && __atomic_load_n(&p->generation, __ATOMIC_RELAXED) == seen; i++)
            relax();
        pthread_mutex_lock(&p->lock);
        while (!p->stop && p->generation == seen)
            pthread_cond_wait(&p->work, &p->lock);
        seen = p->generation;
        int stop = p->stop, join = p->open;
        if (join)
            __atomic_add_fetch(&p->inside, 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&p->lock);
        if (stop)
            return NULL;
        if (!join)
            continue;
        take_tasks(p, w->index);
        pthread_mutex_lock(&p->lock);
        if (__atomic_sub_fetch(&p->inside, 1, __ATOMIC_RELAXED) == 0 && !p->open)
            pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
}

static unsigned machine_threads(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

pool *pool_create(unsigned threads) {
    if (threads == 0)
        threads = machine_threads();
    if (threads > MOST_THREADS)
        return NULL;
    pool *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->threads = threads;
    if (threads == 1)
        return p;
    p->workers = calloc(threads - 1, sizeof *p->workers);
    if (p->workers == NULL) {
        free(p);
        return NULL;
    }
    if (pthread_mutex_init(&p->lock, NULL) != 0)
        goto no_lock;
    if (pthread_cond_init(&p->work, NULL) != 0)
        goto no_work;
    if (pthread_cond_init(&p->done, NULL) != 0)
        goto no_done;

    /* The program's signals are for its own threads. */
    sigset_t all, before;
    sigfillset(&all);
    int masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    for (unsigned i = 0; i + 1 < threads; i++) {
        worker *w = &p->workers[i];
        w->pool = p;
        w->index = i + 1;
        if (pthread_create(&w->id, NULL, worker_main, w) != 0)
            break;
        p->started++;
    }
    if (masked)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (p->started + 1 < threads) {
        pool_destroy(p);
        return NULL;
    }
    return p;

no_done:
    pthread_cond_destroy(&p->work);
no_work:
    pthread_mutex_destroy(&p->lock);
no_lock:
    free(p->workers);
    free(p);
    return NULL;
}

void pool_destroy(pool *p) {
    if (p == NULL)
        return;
    if (p->threads > 1) {
        pthread_mutex_lock(&p->lock);
        p->stop = 1;
        __atomic_add_fetch(&p->generation, 1, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
        for (unsigned i = 0; i < p->started; i++)
            pthread_join(p->workers[i].id, NULL);
        pthread_cond_destroy(&p->done);
        pthread_cond_destroy(&p->work);
        pthread_mutex_destroy(&p->lock);
        free(p->workers);
    }
    free(p);
}

unsigned pool_threads(const pool *p) {
    return p != NULL ? p->threads : 1;
}

void pool_run(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx) {
    if (p == NULL || p->threads == 1 || tasks <= 1) {
        run_here(tasks, fn, ctx);
        return;
    }
    pthread_mutex_lock(&p->lock);
    assert(!p->open); /* not re-entrant */
    p->fn = fn;
    p->ctx = ctx;
    p->tasks = tasks;
    __atomic_store_n(&p->next, 0, __ATOMIC_RELAXED);
    p->open = 1;
    __atomic_add_fetch(&p->generation, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);

    take_tasks(p, 0);

    pthread_mutex_lock(&p->lock);
    p->open = 0;
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < SPINS && __atomic_load_n(&p->inside, __ATOMIC_RELAXED) > 0; i++)
        relax();
    pthread_mutex_lock(&p->lock);
    while (p->inside > 0)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

#endif
