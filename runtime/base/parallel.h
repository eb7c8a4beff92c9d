/* Loops in several threads: what compiled code calls where a loop is worth it.
 *
 * The rounds of a loop are independent, and a piece of it does each of its rounds the same way however the loop is
 * cut: what it computes does not depend, to the bit, on the number of threads. Nothing is allocated. The threads
 * are shared by all of a process: they are started when they are first needed, look out for work for a while after
 * each loop, then sleep, and are joined when the process ends or the shared object that holds them is unloaded.
 * They block all signals, and keep off the processor of the thread that calls if there are others. A child of fork
 * has none and starts its own. A loop that begins while another one has the threads is done by its caller alone.
 */
#ifndef RML_PARALLEL_H
#define RML_PARALLEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RML_MOST_THREADS 64u

/* Rounds begin … end - 1. worker: which thread does it, 0 the caller, below the `threads` of the loop; two pieces of
 * one worker are never done at the same time. */
typedef void rml_piece(const void* context, int64_t begin, int64_t end, uint32_t worker);

/* Returns when rounds 0 … count - 1 are done, by at most `threads` threads, with at least `grain` rounds for each. */
void rml_parallel(rml_piece* piece, const void* context, int64_t count, int64_t grain, uint32_t threads);

/* From the next loop on at most n threads, 0: as many as each loop asks for. */
void rml_limit_threads(uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
