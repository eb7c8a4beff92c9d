// Segments begin where `true fby cut` holds; what is sampled there, or at the cut, is there once.
#include "lowering/segment_facts.h"

#include <algorithm>

namespace rml {

bool SegmentFacts::marks_first(ValueId v) const {
  const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
  return f != nullptr && core_[v].clock == clock_ && cut_.positive && f->next == cut_.condition &&
         core_.is_const(f->init) && std::get<core::Const>(core_[f->init].rhs).value == Tensor::boolean(true);
}

bool SegmentFacts::only_first(ValueId v) const {
  if (marks_first(v)) return true;
  const auto* m = std::get_if<core::Merge>(&core_[v].rhs);
  return m != nullptr && core_[v].clock == clock_ && marks_first(m->condition) && core_.is_const(m->on_false) &&
         std::get<core::Const>(core_[m->on_false].rhs).value == Tensor::boolean(false);
}

bool SegmentFacts::present_first(ValueId v) const {
  return std::ranges::any_of(clock_path(core_, clock_, core_[v].clock),
                             [&](const steps::Test& t) { return t.positive && only_first(t.condition); });
}

bool SegmentFacts::absent_first(ValueId v) const {
  return std::ranges::any_of(clock_path(core_, clock_, core_[v].clock),
                             [&](const steps::Test& t) { return !t.positive && marks_first(t.condition); });
}

bool SegmentFacts::present_last(ValueId v) const {
  return std::ranges::any_of(clock_path(core_, clock_, core_[v].clock), [&](const steps::Test& t) {
    return t.condition == cut_.condition && t.positive == cut_.positive && core_[t.condition].clock == clock_;
  });
}

bool SegmentFacts::once(ValueId v) const { return present_first(v) || present_last(v); }

steps::Test SegmentFacts::simplest(const steps::Test& t) const {
  const bool first = t.kind == steps::Test::value && marks_first(t.condition);
  return first ? steps::Test{steps::Test::first, {}, t.positive} : t;
}

}  // namespace rml
