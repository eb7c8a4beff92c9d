// What products take.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

double nanoseconds_of_product(const Function&, DType);  // of two numbers, and its addition
// Of so many sums of a product that read the same elements of B.
double nanoseconds_of_sum(const Function&, const Product&, std::int64_t sums);

}  // namespace rml::codegen
