// Estimates products by the costs of the target.
#include "lowering/llvm/products/cost.h"

#include <algorithm>

namespace rml::codegen {

// A fused product takes half a cycle per register; a separate one takes a cycle.
double nanoseconds_of_product(const Function& f, DType dtype) {
  const Costs& costs = f.module.target.costs;
  return (f.module.numeric.fused ? costs.fused_product : costs.product) / static_cast<double>(f.lanes(dtype));
}

double nanoseconds_of_sum(const Function& f, const Product& p, std::int64_t sums) {
  const double read = f.module.target.costs.byte * static_cast<double>(byte_size(p.dtype));
  return static_cast<double>(p.inner) * std::max(read, static_cast<double>(sums) * nanoseconds_of_product(f, p.dtype));
}

}  // namespace rml::codegen
