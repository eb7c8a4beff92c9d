/* Loops in several threads. Compiled code calls rml_parallel for a loop that is long enough.
 *
 * The rounds of a loop are independent, and each round is computed in the same way in every
 * division of the loop. So the results do not depend on the number of threads, to the bit. Nothing
 * is allocated.
 *
 * All loops of a process share the threads. A thread is started when it is first needed. After a
 * loop it polls for the next one for a short time, then sleeps. It is joined when the process
 * ends, or when the shared object with this code is unloaded. Threads block all signals. If there
 * are other processors, they do not run on the processor of the caller. A child of fork has no
 * threads and starts its own. If a loop begins while another loop uses the threads, its caller
 * computes it alone.
 */
#ifndef RML_PARALLEL_H
#define RML_PARALLEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RML_MOST_THREADS 64u

/* Computes rounds begin to end - 1. worker: number of the thread, less than the `threads` of the
 * loop; 0 is the caller. Two pieces with the same worker never run at the same time. */
typedef void rml_piece(const void* context, int64_t begin, int64_t end, uint32_t worker);

/* Computes rounds 0 to count - 1 in at most `threads` threads, with at least `grain` rounds for
 * each thread. Returns when all rounds are done. */
void rml_parallel(rml_piece* piece, const void* context, int64_t count, int64_t grain, uint32_t threads);

/* Limits each loop, from the next one on, to n threads. 0: no limit except the loop's own. */
void rml_limit_threads(uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
