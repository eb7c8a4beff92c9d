/* Kernels that read and write elements at indices that are computed at run time.
 *
 * A negative index counts from the end. An index outside [-extent, extent) is RML_FAULT_INDEX,
 * with the index as it was given and the extent. Operands and attributes are those of the operator
 * table in semantics/operators/gather.cc.
 */
#ifndef RML_KERNELS_GATHER_H
#define RML_KERNELS_GATHER_H

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_kernel_take, rml_kernel_sum_take, rml_kernel_add_at;
rml_kernel rml_kernel_gather_elements, rml_kernel_take_along_axis, rml_kernel_gather_nd;
rml_kernel rml_kernel_scatter_elements, rml_kernel_scatter_nd;
rml_kernel rml_kernel_scatter_elements_gradient, rml_kernel_scatter_nd_gradient;
rml_kernel rml_kernel_dynamic_slice, rml_kernel_dynamic_update_slice;

#ifdef __cplusplus
}
#endif
#endif
