/* Kernels that sort, search and accumulate along an axis. Their operands and attributes are in the
 * operator table in semantics/operators/ordering.cc.
 *
 * NaN counts as larger than every number. Equal elements keep their order.
 */
#ifndef RML_KERNELS_ORDERING_H
#define RML_KERNELS_ORDERING_H

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_kernel_sort, rml_kernel_argsort, rml_kernel_argtopk, rml_kernel_searchsorted;
rml_kernel rml_kernel_cumsum, rml_kernel_cumprod, rml_kernel_weighted_cumsum;

#ifdef __cplusplus
}
#endif
#endif
