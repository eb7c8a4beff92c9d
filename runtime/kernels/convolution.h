// The kernels of convolution and pooling, for every dtype and shape. Their formulas and the order
// of additions are in convolution.cc and pooling.cc.
#pragma once

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_kernel_conv, rml_kernel_conv_input_gradient, rml_kernel_conv_weight_gradient, rml_kernel_conv_transpose;
rml_kernel rml_kernel_max_pool, rml_kernel_max_pool_indices, rml_kernel_max_pool_select, rml_kernel_max_pool_gradient;
rml_kernel rml_kernel_sum_pool, rml_kernel_sum_pool_gradient;
rml_kernel rml_kernel_average_pool, rml_kernel_average_pool_gradient;
rml_kernel rml_kernel_im2col, rml_kernel_col2im;

#ifdef __cplusplus
}
#endif
