// Starts from every memory that one sweep updates in place. It first collects the values that equal the memory at the
// first instant and that only earlier sweeps read, then the memory's next value.
#include "lowering/segment/coalesce.h"

#include <algorithm>

#include "semantics/time/memories.h"

namespace rml {

namespace {

class Coalescing {
 public:
  Coalescing(const SegmentFacts& facts, const Segment& segment, const Looks& looks)
      : core_(facts.core()), facts_(facts), memories_(segment.memories), looks_(looks) {
    for (std::size_t s = 0; s < segment.sweeps.size(); ++s)
      for (const SweepItem& i : segment.sweeps[s].items) {
        if (sweeps_[i.value].insert(s).second)
          for_each_operand(core_[i.value].rhs, [&](ValueId o) { users_[o].push_back(i.value); });
      }
  }

  Coalesced run() {
    for (const auto& [v, memory] : memories_) {
      if (!memory.in_place || core_[v].shape.empty()) continue;
      const std::set<ValueId> same = same_as_first(v, *memory.in_place);
      for (const ValueId s : same) result_.found_in[s] = v;
      find_next(v, *memory.in_place, same);
    }
    return std::move(result_);
  }

 private:
  const std::vector<ValueId>& users(ValueId v) const {
    static const std::vector<ValueId> none;
    const auto at = users_.find(v);
    return at == users_.end() ? none : at->second;
  }
  // True if only earlier sweeps read the value.
  bool before(ValueId v, std::size_t sweep) const {
    const auto at = looks_.find(v);
    return at == looks_.end() || std::ranges::all_of(at->second, [&](std::size_t s) { return s < sweep; });
  }

  // The samples of p at the first instant, and the values that hold such a sample. In the sweep that updates p, at the
  // end of each instant, samples still find the old value.
  std::set<ValueId> same_as_first(ValueId p, std::size_t until) const {
    std::set<ValueId> same;
    for (const ValueId u : users(p)) {
      const auto* w = std::get_if<core::When>(&core_[u].rhs);
      if (w == nullptr || !facts_.present_first_only(u)) continue;
      if (before(u, until + 1)) same.insert(u);
      for (const ValueId h : users(u)) {
        const ValueId f = facts_.holder(h);
        if (!f.valid() || std::get<core::Merge>(core_[h].rhs).on_true != u || core_[f].dtype != core_[p].dtype)
          continue;
        const ValueId rest = std::get<core::Merge>(core_[h].rhs).on_false;
        if (before(h, until) && before(f, until) && before(rest, until) && after_first(f)) same.insert({h, f, rest});
      }
    }
    return same;
  }

  // True if no use reads the memory at the first instant. There the memory still has the value of the previous segment,
  // whereas p has changed.
  bool after_first(ValueId f) const {
    return !facts_.looked_at(f) && std::ranges::all_of(users(f), [&](ValueId u) { return facts_.absent_first(u); });
  }

  // If p becomes `u` at the first instant and stays the same at the others, u is stored in p's cell. Where u is
  // computed, no other use may need the old value.
  void find_next(ValueId p, std::size_t until, const std::set<ValueId>& same) {
    const Change change = what_changes(core_, p, std::get<core::Fby>(core_[p].rhs).next);
    const ValueId u = change.next;
    if (!u.valid() || !facts_.present_first_only(u) || facts_.looked_at(p) || facts_.looked_at(u)) return;
    const auto at = sweeps_.find(u);
    if (at == sweeps_.end() || at->second.size() != 1 || *at->second.begin() == 0) return;
    const std::size_t sweep = *at->second.begin();
    if (sweep > until || !std::holds_alternative<core::Apply>(core_[u].rhs)) return;
    for (const ValueId s : same)
      if (!before(s, sweep) && !std::ranges::all_of(users(s), [&](ValueId x) { return x == u || early(x, sweep); }))
        return;
    for (const ValueId x : users(p))
      if (!same.contains(x) && !early(x, sweep) && !only_keeps(x, p)) return;
    result_.stored_in[u] = p;
  }

  bool early(ValueId v, std::size_t sweep) const {
    return std::ranges::all_of(sweeps_.at(v), [&](std::size_t p) { return p < sweep; });
  }
  // True for a sample of p whose only use is to keep p unchanged.
  bool only_keeps(ValueId v, ValueId p) const {
    if (v == std::get<core::Fby>(core_[p].rhs).next) return true;
    const bool passes_on =
        std::holds_alternative<core::When>(core_[v].rhs) || std::holds_alternative<core::Merge>(core_[v].rhs);
    return passes_on && !facts_.looked_at(v) && !facts_.present_first_only(v) &&
           std::ranges::all_of(users(v), [&](ValueId u) { return u != v && only_keeps(u, p); });
  }

  const Core& core_;
  const SegmentFacts& facts_;
  const std::map<ValueId, Memory>& memories_;
  const Looks& looks_;
  std::map<ValueId, std::vector<ValueId>> users_;    // users among the items of the sweeps
  std::map<ValueId, std::set<std::size_t>> sweeps_;  // the sweeps that compute a value
  Coalesced result_;
};

}  // namespace

Coalesced coalesce(const SegmentFacts& facts, const Segment& segment, const Looks& looks) {
  return Coalescing(facts, segment, looks).run();
}

}  // namespace rml
