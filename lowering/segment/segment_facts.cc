// Derives places from the sweeps, and presence from the clocks. A segment begins where `true fby cut` holds. A value
// sampled there, or at the cut, is present once per segment.
#include "lowering/segment/segment_facts.h"

#include <algorithm>

#include "lowering/schedule/clock_path.h"
#include "semantics/core/queries.h"
#include "semantics/time/memories.h"

namespace rml {

SegmentFacts::SegmentFacts(const Schedule& schedule, const Streams& streams, const Segment& segment)
    : schedule_(schedule),
      core_(*schedule.core),
      streams_(streams),
      segment_(segment),
      unit_(schedule.units[segment.unit]),
      cut_(computed_cut(schedule, unit_)) {
  for (const ValueId v : unit_.operands) places_[v].push_back({0, any_instant});
  for (std::size_t s = 0; s < segment.sweeps.size(); ++s)
    for (const SweepItem& i : segment.sweeps[s].items) places_[i.value].push_back({s, i.classes});
}

bool SegmentFacts::only_in(ValueId v, std::size_t sweep) const {
  return std::ranges::all_of(places(v), [&](const Place& p) { return p.sweep == sweep; });
}

bool SegmentFacts::computed_in(ValueId v, std::size_t sweep) const {
  return std::ranges::any_of(places(v), [&](const Place& p) { return p.sweep == sweep; });
}

std::uint8_t SegmentFacts::known_until(ValueId v, std::size_t sweep) const {
  if (!is_here(v)) return any_instant;
  std::uint8_t classes = 0;
  for (const Place& place : places(v))
    if (place.sweep <= sweep) classes |= place.classes;
  return classes;
}

bool SegmentFacts::moves_in_leading(ValueId fby) const {
  const ValueId next = std::get<core::Fby>(core_[fby].rhs).next;
  const auto leads = [&](ValueId v) { return !is_here(v) || only_in(v, 0); };
  // A constant is known from the start. But if a later sweep computes the clock, the leading sweep does not know when
  // the constant is taken.
  if (core_.is_const(next))
    return std::ranges::all_of(clock(fby), [&](const Literal& l) { return leads(l.condition); });
  return leads(next);
}

void SegmentFacts::for_each_operand(ValueId v, const std::function<void(ValueId)>& f) const {
  const auto product = segment_.products.find(v);
  if (product == segment_.products.end()) return rml::for_each_operand(core_[v].rhs, f);
  f(product->second.a.value);
  f(product->second.b.value);
}

std::vector<Literal> SegmentFacts::clock(ValueId v) const { return clock_path(core_, unit_.clock, core_[v].clock); }

bool SegmentFacts::marks_first(ValueId v) const {
  const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
  return f != nullptr && core_[v].clock == unit_.clock && f->next == unit_.cut &&
         constant_truth(core_, f->init) == true;
}

bool SegmentFacts::holds_first_only(ValueId v) const {
  if (marks_first(v)) return true;
  const auto* m = std::get_if<core::Merge>(&core_[v].rhs);
  return m != nullptr && core_[v].clock == unit_.clock && marks_first(m->condition) &&
         constant_truth(core_, m->on_false) == false;
}

bool SegmentFacts::present_first_only(ValueId v) const {
  return std::ranges::any_of(clock(v), [&](Literal l) { return l.positive && holds_first_only(l.condition); });
}

bool SegmentFacts::absent_first(ValueId v) const {
  return std::ranges::any_of(clock(v), [&](Literal l) { return !l.positive && marks_first(l.condition); });
}

bool SegmentFacts::holds_last_only(const Literal& l) const {
  if (core_[cut_.condition].clock != unit_.clock) return false;
  if (l == cut_) return true;
  const auto* m = std::get_if<core::Merge>(&core_[l.condition].rhs);
  return l.positive && m != nullptr && core_[l.condition].clock == unit_.clock && m->condition == cut_.condition &&
         constant_truth(core_, cut_.positive ? m->on_false : m->on_true) == false;
}

bool SegmentFacts::present_last_only(ValueId v) const {
  return std::ranges::any_of(clock(v), [&](const Literal& l) { return holds_last_only(l); });
}

ValueId SegmentFacts::holder(ValueId v) const {
  const auto* m = std::get_if<core::Merge>(&core_[v].rhs);
  if (m == nullptr || core_[v].clock != unit_.clock || !marks_first(m->condition) || !only_in(v, 0)) return {};
  for (const auto& [f, memory] : segment_.memories)
    if (is_kept(core_, m->on_false, f) && std::get<core::Fby>(core_[f].rhs).next == v && only_in(f, 0)) return f;
  return {};
}

bool SegmentFacts::is_held(ValueId v) const {
  return core_.is_const(v) || (is_here(v) && (settled(v) || holder(v).valid()));
}

bool SegmentFacts::stands_still(ValueId v) const {
  const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
  if (f == nullptr || !segment_.memories.contains(v) || !only_in(v, 0) || moves_in_leading(v)) return false;
  if (!core_.is_const(f->init) && !is_parameter(v)) return false;
  return present_last_only(v) || computed_last_only(f->next);
}

bool SegmentFacts::costs_nothing(ValueId v) const {
  return !is_here(v) || settled(v) || holder(v).valid() || present_once(v) || stands_still(v);
}

std::int64_t SegmentFacts::bytes(ValueId v) const {
  return *element_count(core_[v].shape) * static_cast<std::int64_t>(byte_size(core_[v].dtype));
}

bool SegmentFacts::is_parameter(ValueId v) const {
  return std::ranges::any_of(core_.parameters, [&](const Parameter& p) { return p.value == v; });
}

bool SegmentFacts::looked_at(ValueId v) const {
  return handed_out(v) || checked(v) ||
         std::ranges::any_of(unit_.plan.awaiting, [&](const Awaiting& a) { return a.post == v; });
}

std::vector<std::vector<Literal>> SegmentFacts::demands(const Awaiting& a, std::size_t sweep) const {
  std::vector<std::vector<Literal>> all;
  for (const Guard& guard : a.demands) {
    std::vector<Literal> where = clock(a.post);
    for (const Literal& l : guard.literals) {
      const bool known = is_here(l.condition) &&
                         std::ranges::all_of(places(l.condition), [&](const Place& at) { return at.sweep <= sweep; });
      if (!known) continue;
      std::vector<Literal> more = clock(l.condition);
      more.push_back(l);
      for (const Literal& m : more)
        if (std::ranges::find(where, m) == where.end()) where.push_back(m);
    }
    all.push_back(std::move(where));
  }
  return all;
}

}  // namespace rml
