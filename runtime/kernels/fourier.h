/* Discrete Fourier transforms of any length, and the division of sequences into overlapping
 * frames.
 *
 * A plan is a vector of the numbers that depend only on the length, above all the roots of unity.
 * rml_fourier_plan computes it once, and the transforms take it as their last operand. A complex
 * number is a pair on the last axis. The forward transform is
 *
 *   X[k] = sum of x[t] exp(-2 pi i k t / n)
 *
 * The inverse transform has + in place of -, and no factor 1 / n. Each comment lists
 * (operands; attributes) -> the shape of the result.
 */
#ifndef RML_KERNELS_FOURIER_H
#define RML_KERNELS_FOURIER_H

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of elements of the plan for n points. real: 1 for real sequences, 0 for complex ones. */
int64_t rml_fourier_plan_size(int64_t n, int64_t real);
rml_kernel rml_fourier_plan; /* (; n, real), in f64 or f32 */
rml_kernel rml_fourier;      /* ([..., n, 2], plan; inverse) -> [..., n, 2] */
rml_kernel rml_real_fourier; /* ([..., n], plan) -> [..., n / 2 + 1, 2] */
/* ([..., n / 2 + 1, 2], plan; n) -> [..., n]: the adjoint of rml_real_fourier, which is the real
 * part of the sum of g[k] exp(2 pi i k t / n) */
rml_kernel rml_real_fourier_terms;
int64_t rml_fourier_bytes(int64_t n, int64_t size); /* bytes of scratch for every transform */

rml_kernel rml_frames;      /* ([..., n]; length, hop) -> [..., frames, length] */
rml_kernel rml_overlap_add; /* ([..., frames, length]; n, hop) -> [..., n]: adjoint of frames */

#ifdef __cplusplus
}
#endif
#endif
