/* Random tensors, the same bits on every target: the kernels of the random operators.
 *
 * Each draw is a function of (seed, key, cycle, position): Philox4x32-10 (Salmon et al.,
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011), keyed by seed and the key of the
 * operator's instance, its counter made of the cycle and the position of the element. No
 * state, no order of evaluation. Logarithm, sine and cosine are computed here, from +, -, *,
 * / alone, so that results do not depend on a C library.
 *
 * All kernels have one signature. out: product of dims elements of dtype (RML_F32 or RML_F64
 * of rmlrt.h); rank 0 is a scalar. a, b: parameters, see each kernel. Result: an
 * RML_FAULT_… code. Nothing is allocated.
 */
#ifndef RML_KERNELS_RANDOM_H
#define RML_KERNELS_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ten rounds of Philox4x32 on a counter. */
void rml_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#define RML_RANDOM_KERNEL(name)                                                                                  \
  int32_t name(void* out, uint8_t dtype, const uint64_t* dims, uint32_t rank, double a, double b, uint64_t seed, \
               uint64_t key, int64_t cycle)

RML_RANDOM_KERNEL(rml_random_uniform);          /* in [a, b); a where b <= a */
RML_RANDOM_KERNEL(rml_random_normal);           /* mean a, standard deviation b */
RML_RANDOM_KERNEL(rml_random_bernoulli);        /* 1 with probability a, else 0 */
RML_RANDOM_KERNEL(rml_random_truncated_normal); /* the normal ones that are within 2 b of a */
/* Initialisers; a and b are not read. fan_in: product of dims[1…], fan_out: dims[0]; both the
 * number of elements for rank 0 and 1. */
RML_RANDOM_KERNEL(rml_random_glorot_uniform); /* uniform in ± sqrt(6 / (fan_in + fan_out)) */
RML_RANDOM_KERNEL(rml_random_glorot_normal);  /* deviation sqrt(2 / (fan_in + fan_out)) */
RML_RANDOM_KERNEL(rml_random_he_uniform);     /* uniform in ± sqrt(6 / fan_in) */
RML_RANDOM_KERNEL(rml_random_he_normal);      /* deviation sqrt(2 / fan_in) */
RML_RANDOM_KERNEL(rml_random_lecun_uniform);  /* uniform in ± sqrt(3 / fan_in) */
RML_RANDOM_KERNEL(rml_random_lecun_normal);   /* deviation sqrt(1 / fan_in) */
/* Seen as [dims[0], rest], the rows are orthonormal, or the columns if there are fewer of
 * those: the Q of the QR decomposition, with a positive diagonal of R, of a normal matrix. A
 * vector has norm 1. Rank 0 is 1 or -1. */
RML_RANDOM_KERNEL(rml_random_orthogonal);

#undef RML_RANDOM_KERNEL

#ifdef __cplusplus
}
#endif
#endif
