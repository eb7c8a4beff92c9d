/* Kernels of linear algebra, which call LAPACK.
 *
 * They work on the last two axes; all axes before them are batches. If a matrix contains an
 * infinity or NaN, every element of its result is NaN. The reference LAPACK and BLAS allocate
 * nothing, start no threads, and do not select code by the processor. So the same input gives the
 * same bits. The sizes below are numbers of elements. For each kernel, a function returns the
 * number of bytes of scratch memory.
 */
#ifndef RML_KERNELS_LAPACK_H
#define RML_KERNELS_LAPACK_H

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_lapack_solve;            /* (a, b): a⁻¹ b; rank 1: vector; singular: RML_FAULT_NUMERIC */
rml_kernel rml_lapack_triangular_solve; /* (a, b; lower, unit): the same for one triangle of a */
rml_kernel rml_lapack_cholesky;         /* (a): the lower factor of (a + aᵀ) / 2 */
rml_kernel rml_lapack_inverse;          /* (a): a⁻¹ */
rml_kernel rml_lapack_det;              /* (a): the determinant */
rml_kernel rml_lapack_cofactor;         /* (a): the derivative of det, also if a is singular */
rml_kernel rml_lapack_slogdet;          /* (a): [..., 2]: sign and logarithm of the determinant */
rml_kernel rml_lapack_qr;               /* (a): [..., m k + k n]: Q, then R */
rml_kernel rml_lapack_svd;              /* (a): [..., m k + k + k n]: U, S, Vᵀ */
rml_kernel rml_lapack_eigh;             /* (a): [..., n + n n]: ascending eigenvalues of (a + aᵀ) / 2, V */
rml_kernel rml_lapack_matrix_power;     /* (a; n): aⁿ */

/* Scratch size in bytes for an m × n matrix with elements of `size` bytes, and `columns` right-hand
 * sides. */
int64_t rml_lapack_solve_bytes(int64_t n, int64_t columns, int64_t size);
int64_t rml_lapack_factor_bytes(int64_t n, int64_t size); /* bytes of scratch for inverse, power, det and slogdet */
int64_t rml_lapack_qr_bytes(int64_t m, int64_t n, int64_t size);
int64_t rml_lapack_cofactor_bytes(int64_t n, int64_t size);
int64_t rml_lapack_svd_bytes(int64_t m, int64_t n, int64_t size);
int64_t rml_lapack_eigh_bytes(int64_t n, int64_t size);

#ifdef __cplusplus
}
#endif
#endif
