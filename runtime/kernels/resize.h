/* Kernels that resize a tensor along one axis, by interpolation between elements (sampling.h), and
 * the adjoint of this operator. */
#pragma once

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_kernel_resize, rml_kernel_sum_resize;

#ifdef __cplusplus
}
#endif
