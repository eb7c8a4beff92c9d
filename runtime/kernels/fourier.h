/* Discrete Fourier transforms of any length, and sequences cut into overlapping frames.
 *
 * What depends on the length alone, the roots of unity above all, is a plan: a vector made once, by
 * rml_fourier_plan, that the transforms take as their last operand. A complex number is a pair on the last
 * axis. Forward is X[k] = sum of x[t] exp(-2 pi i k t / n), inverse the same with + and without 1 / n.
 */
#ifndef RML_KERNELS_FOURIER_H
#define RML_KERNELS_FOURIER_H

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many elements the plan of n points has; of complex sequences, or with real = 1 of real ones. */
int64_t rml_fourier_plan_size(int64_t n, int64_t real);
rml_kernel rml_fourier_plan;       /* (; n, real): f64 or f32 */
rml_kernel rml_fourier;            /* ([..., n, 2], plan; inverse) -> [..., n, 2] */
rml_kernel rml_real_fourier;       /* ([..., n], plan) -> [..., n / 2 + 1, 2] */
rml_kernel rml_real_fourier_terms; /* ([..., n / 2 + 1, 2], plan; n) -> [..., n]: its adjoint, Re of the sum of
                                      g[k] exp(2 pi i k t / n) */
int64_t rml_fourier_bytes(int64_t n, int64_t size); /* scratch of every transform */

rml_kernel rml_frames;      /* ([..., n]; length, hop) -> [..., frames, length] */
rml_kernel rml_overlap_add; /* ([..., frames, length]; n, hop) -> [..., n]: its adjoint */

#ifdef __cplusplus
}
#endif
#endif
