// Makes the wide step: the scalar form of the step, its branches converged, its values widened to lanes.
#include "lowering/llvm/interface/wide_step.h"

#include <algorithm>

#include "lowering/llvm/lanes/refused.h"
#include "lowering/llvm/lanes/scalar_form.h"
#include "lowering/llvm/lanes/widen.h"

namespace rml::codegen {

namespace {

// The number of lanes of a vector of the smallest floats that the program computes with.
std::uint64_t choose_lanes(const Emission& module, std::uint64_t kept) {
  std::int64_t most = module.target.lanes(DType::f64);
  for (const Value& v : module.core.values)
    if (v.dtype == DType::f32) most = std::max(most, module.target.lanes(DType::f32));
  const auto lanes = static_cast<std::uint64_t>(most);
  if (lanes < 2) throw NoLanes("the target has no vectors", nullptr);
  if (!module.layout.packs.empty()) throw NoLanes("it reads weights that are packed for a product", nullptr);
  const std::uint64_t all = std::max(kept, module.layout.state_bytes());
  if (all * lanes > module.target.most_group_bytes)
    throw NoLanes("a state and what a step works with take " + std::to_string(all) +
                      " bytes: those of a group would leave the cache",
                  nullptr);
  return lanes;
}

}  // namespace

WideStep emit_wide_step(Emission& module, llvm::Function& step, std::uint64_t kept, const std::string& name) {
  const std::uint64_t lanes = choose_lanes(module, kept);
  constexpr std::uint64_t align = StateLayout::state_align;
  llvm::Function* const scalar = scalar_form(step, kept, module.layout.state_bytes(), module.target);
  try {
    llvm::Function* const wide = widen(*scalar, converge(*scalar, module.target), static_cast<unsigned>(lanes), name);
    // C has no empty structs, so a group that keeps nothing has a size as well.
    const std::uint64_t bytes = std::max<std::uint64_t>(kept * lanes, 1);
    return {scalar, wide, lanes, (bytes + align - 1) / align * align};
  } catch (const NoLanes&) {
    scalar->eraseFromParent();
    throw;
  }
}

}  // namespace rml::codegen
