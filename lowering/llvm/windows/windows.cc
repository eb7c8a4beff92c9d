// Selects the generator of an operator over windows.
#include "lowering/llvm/windows/windows.h"

#include <algorithm>

#include "lowering/llvm/windows/convolution.h"
#include "lowering/llvm/windows/pooling.h"

namespace rml::codegen {

bool emit_windows(Function& f, ValueId v, const core::Apply& a) {
  const std::string_view name = operators()[a.op].name;
  constexpr std::string_view convolutions[] = {"conv", "conv_transpose", "conv_input_gradient", "conv_weight_gradient"};
  constexpr std::string_view pools[] = {"max_pool",          "max_pool_gradient", "sum_pool",
                                        "sum_pool_gradient", "average_pool",      "average_pool_gradient"};
  if (std::ranges::find(convolutions, name) != std::end(convolutions)) return emit_convolution(f, v, a);
  return std::ranges::find(pools, name) != std::end(pools) && emit_pooling(f, v, a);
}

}  // namespace rml::codegen
