/* Resizing along one axis and its adjoint; see resize.cc. */
#pragma once

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_kernel_resize, rml_kernel_sum_resize;

#ifdef __cplusplus
}
#endif
