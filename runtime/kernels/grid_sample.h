/* Sampling of images at points of a grid, and its adjoints; see grid_sample.cc. */
#pragma once

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_kernel_grid_sample;          /* (x, grid; mode, padding, align_corners) */
rml_kernel rml_kernel_sum_grid_sample;      /* (g, grid; shape, mode, …): the adjoint of x */
rml_kernel rml_kernel_grid_sample_gradient; /* (x, grid, g; mode, …): the adjoint of grid */

#ifdef __cplusplus
}
#endif
