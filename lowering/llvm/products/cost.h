// Estimates the cost of products.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

double nanoseconds_of_product(const Function&, DType);  // time for one multiplication and addition
// The cost of `sums` sums of a product that read the same elements of B.
double nanoseconds_of_sum(const Function&, const Product&, std::int64_t sums);

}  // namespace rml::codegen
