/* Linear algebra: kernels of the kernel calling convention that are linked with LAPACK.
 *
 * They work on the last two axes; the axes before are batches. An element that is infinite or NaN makes
 * every element of that matrix's result NaN. The reference LAPACK and BLAS allocate nothing, start no
 * threads and choose no code by the processor: the same input gives the same bits. Sizes below are in
 * elements of the operands' dtype; every kernel has the function that tells its scratch bytes.
 */
#ifndef RML_KERNELS_LAPACK_H
#define RML_KERNELS_LAPACK_H

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_lapack_solve;            /* (a, b): a⁻¹ b; b of rank 1 is a vector. Singular: RML_FAULT_NUMERIC */
rml_kernel rml_lapack_triangular_solve; /* (a, b; lower, unit): the same, of one triangle of a */
rml_kernel rml_lapack_cholesky;         /* (a): the lower factor of (a + aᵀ) / 2 */
rml_kernel rml_lapack_inverse;          /* (a) */
rml_kernel rml_lapack_det;              /* (a) */
rml_kernel rml_lapack_cofactor;         /* (a): the derivative of the determinant, of singular matrices too */
rml_kernel rml_lapack_slogdet;          /* (a): sign and logarithm of the determinant, as a last axis of 2 */
rml_kernel rml_lapack_qr;               /* (a): [..., m k + k n]: Q, then R */
rml_kernel rml_lapack_svd;              /* (a): [..., m k + k + k n]: U, S, Vᵀ */
rml_kernel rml_lapack_eigh;             /* (a): [..., n + n n]: the eigenvalues of (a + aᵀ) / 2, ascending, then V */
rml_kernel rml_lapack_matrix_power;     /* (a; n) */

/* Scratch bytes for an m × n matrix, elements of `size` bytes, and `columns` right-hand sides. */
int64_t rml_lapack_solve_bytes(int64_t n, int64_t columns, int64_t size);
int64_t rml_lapack_factor_bytes(int64_t n, int64_t size); /* inverse, power, det, slogdet */
int64_t rml_lapack_qr_bytes(int64_t m, int64_t n, int64_t size);
int64_t rml_lapack_cofactor_bytes(int64_t n, int64_t size);
int64_t rml_lapack_svd_bytes(int64_t m, int64_t n, int64_t size);
int64_t rml_lapack_eigh_bytes(int64_t n, int64_t size);

#ifdef __cplusplus
}
#endif
#endif
