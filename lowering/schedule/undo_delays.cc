// Removes posts that only a constant delays (passes.h): `c fby post y` becomes a merge of c at the first instant and y
// later. The recurrence that it closes then looks ahead no more.
#include <map>

#include "lowering/schedule/passes.h"

namespace rml {

Core undo_delays(Core core) {
  std::map<ClockId, ValueId> starts;
  auto add = [&](core::Rhs rhs, DType dtype, Shape shape, ClockId clock, const Value& like) {
    Value v = like;
    v.rhs = std::move(rhs);
    v.dtype = dtype;
    v.shape = std::move(shape);
    v.clock = clock;
    v.name.clear();
    core.values.push_back(std::move(v));
    return ValueId{core.values.size() - 1};
  };
  const std::size_t count = core.values.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto* f = std::get_if<core::Fby>(&core.values[i].rhs);
    if (f == nullptr || !core.is_const(f->init)) continue;
    const auto* p = std::get_if<core::Post>(&core[f->next].rhs);
    if (p == nullptr) continue;
    const Value like = core.values[i];
    const ValueId init = f->init, later = p->operand;
    if (!starts.contains(like.clock)) {
      const ValueId yes = add(core::Const{Tensor::boolean(true)}, DType::boolean, {}, like.clock, like);
      const ValueId no = add(core::Const{Tensor::boolean(false)}, DType::boolean, {}, like.clock, like);
      starts[like.clock] = add(core::Fby{yes, no}, DType::boolean, {}, like.clock, like);
    }
    const ValueId start = starts[like.clock];
    core.clocks.push_back({like.clock, start, false});
    const ValueId sampled =
        add(core::When{later, start, false}, like.dtype, like.shape, ClockId{core.clocks.size() - 1}, like);
    core.values[i].rhs = core::Merge{start, init, sampled};
  }
  return core;
}

}  // namespace rml
