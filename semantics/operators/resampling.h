// The families of rows that convolution_operators() is put together from, besides its own and pooling.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

std::vector<OperatorInfo> resize_operators();
std::vector<OperatorInfo> grid_sample_operators();

}  // namespace rml
