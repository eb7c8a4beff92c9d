// Writes chains of `when` or `merge`, one for each condition between the two clocks.
#include "semantics/spread/padding.h"

#include "semantics/core/queries.h"

namespace rml::mapped {

ValueId Padding::constant(Tensor tensor) {
  const DType dtype = tensor.dtype();
  Shape shape = tensor.shape();
  core_.values.push_back({core::Const{std::move(tensor)}, dtype, std::move(shape), base_clock, {}, {}, {}});
  return ValueId{core_.values.size() - 1};
}

ValueId Padding::add(core::Rhs rhs, ValueId like, ClockId clock) {
  const rml::Value& of = core_[like];
  rml::Value made{std::move(rhs), of.dtype, of.shape, clock, of.span, of.instance, {}};
  core_.values.push_back(std::move(made));
  return ValueId{core_.values.size() - 1};
}

ValueId Padding::sampled(ValueId v, ClockId clock) {
  if (core_.is_const(v)) return v;
  ValueId at = v;
  for (const ClockId c : path_to(core_, clock, core_[v].clock)) {
    ValueId& known = sampled_[{v, c}];
    if (!known.valid()) {
      const Clock sampling = core_[c];
      known = add(core::When{at, sampling.condition, sampling.positive}, v, c);
    }
    at = known;
  }
  return at;
}

ValueId Padding::padded(ValueId v, ClockId inner, ClockId outer, ValueId other) {
  const ValueId like = v;
  std::vector<ClockId> path = path_to(core_, inner, outer);
  for (; !path.empty(); path.pop_back()) {
    const Clock c = core_[path.back()];
    const ValueId elsewhere = sampled(other, on(c.parent, c.condition, !c.positive));
    const core::Merge both{c.condition, c.positive ? v : elsewhere, c.positive ? elsewhere : v};
    v = add(both, like, c.parent);
  }
  return v;
}

}  // namespace rml::mapped
