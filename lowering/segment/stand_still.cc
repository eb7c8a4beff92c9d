// Finds, for each memory that changes only from segment to segment, the merges that lead to its
// next value, and the samples of the memory itself that they pass on, if these have no other
// users.
#include "lowering/segment/stand_still.h"

#include <algorithm>
#include <set>

#include "semantics/core/queries.h"
#include "semantics/time/memories.h"

namespace rml {

namespace {

constexpr std::uint8_t at_end = last_instant | single_instant;

class StandStill {
 public:
  StandStill(const SegmentFacts& facts, const Segment& segment)
      : core_(facts.core()), facts_(facts), segment_(segment) {
    for (const Sweep& sweep : segment_.sweeps)
      for (const SweepItem& i : sweep.items)
        for_each_operand(core_[i.value].rhs, [&](ValueId o) { users_[o].insert(i.value); });
  }

  Segment run() {
    std::set<ValueId> at_end_only;
    // A value that the leading sweep knows at all instants costs nothing there.
    for (const auto& [v, memory] : segment_.memories)
      if (!facts_.moves_in_leading(v)) at_end_only.merge(way(v));
    for (Sweep& sweep : segment_.sweeps) {
      for (SweepItem& i : sweep.items)
        if (at_end_only.contains(i.value)) i.classes &= at_end;
      std::erase_if(sweep.items, [](const SweepItem& i) { return i.classes == 0; });
    }
    return std::move(segment_);
  }

 private:
  // The values from the memory's next value up to one that holds at the last instant only. Empty if the memory may
  // change at other instants, or if these values have other users.
  std::set<ValueId> way(ValueId memory) const {
    std::set<ValueId> all;
    ValueId user = memory, v = std::get<core::Fby>(core_[memory].rhs).next;
    if (core_[memory].clock != facts_.unit().clock) return {};
    for (;;) {
      const auto* m = std::get_if<core::Merge>(&core_[v].rhs);
      if (m == nullptr || !alone(v, user)) return {};
      all.insert(v);
      const bool on_true = is_kept(core_, m->on_false, memory);
      if (!on_true && !is_kept(core_, m->on_true, memory)) return {};
      if (!add_samples(on_true ? m->on_false : m->on_true, v, all)) return {};
      if (facts_.holds_last_only({m->condition, on_true})) return all;
      user = v;
      v = on_true ? m->on_true : m->on_false;
    }
  }

  // Adds the samples of the memory on the path from v down to it.
  bool add_samples(ValueId v, ValueId user, std::set<ValueId>& all) const {
    for (; std::holds_alternative<core::When>(core_[v].rhs); v = std::get<core::When>(core_[v].rhs).operand) {
      if (!alone(v, user)) return false;
      all.insert(v);
      user = v;
    }
    return true;
  }

  // True for a value of the unit that has no other user.
  bool alone(ValueId v, ValueId user) const {
    const auto at = users_.find(v);
    return facts_.is_member(v) && !facts_.looked_at(v) && at != users_.end() && at->second == std::set{user};
  }

  const Core& core_;
  const SegmentFacts& facts_;
  Segment segment_;
  std::map<ValueId, std::set<ValueId>> users_;
};

}  // namespace

Segment stand_still(const Schedule& schedule, const Streams& streams, const Segment& segment) {
  return StandStill(SegmentFacts(schedule, streams, segment), segment).run();
}

Segments stand_still(Segments s) {
  return change_each(std::move(s), [](const auto&... of) { return stand_still(of...); });
}

}  // namespace rml
