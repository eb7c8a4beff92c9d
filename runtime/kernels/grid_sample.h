/* Kernels that sample images at the points of a grid, by interpolation between elements, and the
 * adjoints of this operator. Each comment lists operands; attributes. */
#pragma once

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_kernel_grid_sample;          /* (x, grid; mode, padding, align_corners) */
rml_kernel rml_kernel_sum_grid_sample;      /* (g, grid; shape, mode, …): adjoint of x */
rml_kernel rml_kernel_grid_sample_gradient; /* (x, grid, g; mode, …): adjoint of grid */

#ifdef __cplusplus
}
#endif
