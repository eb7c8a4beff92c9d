/* The kernels of the random operators. They give the same bits on every target.
 *
 * Each random number is a function of (seed, key, cycle, position). The generator is Philox4x32-10
 * (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Its key is made from
 * the seed and the key of the operator's instance, and its counter from the cycle and the position
 * of the element. So there is no state, and the order of evaluation does not matter. Logarithm,
 * sine and cosine are computed here with +, -, *, / only, so results do not depend on the C
 * library.
 *
 * All kernels have the same signature:
 *   out   product of dims elements of dtype (RML_F32 or RML_F64 of rmlrt.h); rank 0 is a scalar
 *   a, b  parameters of the distribution, see each kernel
 * They return RML_OK or an RML_FAULT_… code, and allocate nothing.
 */
#ifndef RML_KERNELS_RANDOM_H
#define RML_KERNELS_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Applies ten rounds of Philox4x32 to a counter. */
void rml_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#define RML_RANDOM_KERNEL(name)                                                                                  \
  int32_t name(void* out, uint8_t dtype, const uint64_t* dims, uint32_t rank, double a, double b, uint64_t seed, \
               uint64_t key, int64_t cycle)

RML_RANDOM_KERNEL(rml_random_uniform);          /* in [a, b); always a if b <= a */
RML_RANDOM_KERNEL(rml_random_normal);           /* mean a, standard deviation b */
RML_RANDOM_KERNEL(rml_random_bernoulli);        /* 1 with probability a, otherwise 0 */
RML_RANDOM_KERNEL(rml_random_truncated_normal); /* normal, but within 2 b of a */
/* Initialisers, which do not use a and b. fan_in is the product of dims[1…], and fan_out is
 * dims[0]. For rank 0 and 1, both are the number of elements. */
RML_RANDOM_KERNEL(rml_random_glorot_uniform); /* uniform in ± sqrt(6 / (fan_in + fan_out)) */
RML_RANDOM_KERNEL(rml_random_glorot_normal);  /* deviation sqrt(2 / (fan_in + fan_out)) */
RML_RANDOM_KERNEL(rml_random_he_uniform);     /* uniform in ± sqrt(6 / fan_in) */
RML_RANDOM_KERNEL(rml_random_he_normal);      /* deviation sqrt(2 / fan_in) */
RML_RANDOM_KERNEL(rml_random_lecun_uniform);  /* uniform in ± sqrt(3 / fan_in) */
RML_RANDOM_KERNEL(rml_random_lecun_normal);   /* deviation sqrt(1 / fan_in) */
/* A matrix of shape [dims[0], rest] with orthonormal rows, or with orthonormal columns if there
 * are fewer columns than rows. It is the factor Q in the QR decomposition of a normal matrix,
 * where R has a positive diagonal. A vector has norm 1. A scalar is 1 or -1. */
RML_RANDOM_KERNEL(rml_random_orthogonal);

#undef RML_RANDOM_KERNEL

#ifdef __cplusplus
}
#endif
#endif
