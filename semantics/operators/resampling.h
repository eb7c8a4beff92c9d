// The families of which convolution_operators() consists, besides its own rows and pooling.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

std::vector<OperatorInfo> resize_operators();
std::vector<OperatorInfo> grid_sample_operators();

}  // namespace rml
