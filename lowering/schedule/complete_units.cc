// What a unit reads, on which clock it advances, and when it has to wait for what it reads.
//
// First what its values mention and it does not compute. From that and the values follows its clock: the nearest that
// all are on, or one above it where nothing that the unit reads would tell of each instant. From the clock follow the
// conditions that have to be read to find out which values are present. An operand that may come late is waited for
// only where conditions that come at once hold; these are read as well.
#include <algorithm>
#include <set>
#include <tuple>

#include "lowering/schedule/passes.h"

namespace rml {

namespace {

// By ValueId: whether it may be known later than the inputs of its cycle, for it hangs on a post.
std::vector<bool> find_late(const DependenceGraph& graph) {
  const Core& core = graph.core();
  std::vector<ValueId> posts;
  for (std::size_t i = 0; i < core.values.size(); ++i)
    if (std::holds_alternative<core::Post>(core.values[i].rhs)) posts.push_back(ValueId{i});
  return Dependents(graph).of(std::move(posts));
}

// By ValueId: whether it goes from a unit to others, or out.
std::vector<bool> find_streams(const Schedule& s, const DependenceGraph& graph) {
  std::vector<bool> stream(s.core->values.size());
  for (std::size_t i = 0; i < stream.size(); ++i)
    for (const Dependence& e : graph.of(ValueId{i})) {
      const ValueId source = s.sources[e.on.index].value;
      if (s.unit_of[source.index] != s.unit_of[i]) stream[source.index] = true;
    }
  for (const Port& o : s.core->outputs) stream[s.sources[o.value.index].value.index] = true;
  return stream;
}

class Completion {
 public:
  Completion(const Schedule& s, const DependenceGraph& graph)
      : s_(s), core_(*s.core), graph_(graph), late_(find_late(graph)), stream_(find_streams(s, graph)) {}

  ScheduledUnit complete(ScheduledUnit u, std::uint32_t index) const {
    std::set<ValueId> reads = mentioned(u, index);
    u.clock = common_clock_of(u, reads);
    drive(u, index, reads);
    std::vector<ValueId> on_clocks = u.values;
    on_clocks.insert(on_clocks.end(), reads.begin(), reads.end());
    for (ValueId v : on_clocks)
      for (const ClockId c : ancestors(core_, core_[v].clock, u.clock)) read(reads, core_[c].condition, index);
    const std::vector<ValueId> waited(reads.begin(), reads.end());
    for (ValueId v : waited)
      for (const Literal& l : guards(v, index)) reads.insert(l.condition);
    list_operands(u, index, reads, sampling(u.clock, on_clocks, reads));
    return u;
  }

 private:
  void read(std::set<ValueId>& reads, ValueId v, std::uint32_t unit) const {
    if (!core_.is_const(v) && s_.unit_of[v.index] != unit) reads.insert(v);
  }

  std::set<ValueId> mentioned(const ScheduledUnit& u, std::uint32_t index) const {
    std::set<ValueId> reads;
    for (ValueId v : u.values) for_each_operand(core_[v].rhs, [&](ValueId o) { read(reads, o, index); });
    for (const Literal& l : u.plan.only_at_cut) read(reads, l.condition, index);
    if (u.segmented) read(reads, u.plan.cut.condition, index);
    return reads;
  }

  ClockId common_clock_of(const ScheduledUnit& u, const std::set<ValueId>& reads) const {
    ClockId clock = core_[u.values[0]].clock;
    for (ValueId v : u.values) clock = common_clock(core_, clock, core_[v].clock);
    for (ValueId v : reads) clock = common_clock(core_, clock, core_[v].clock);
    return clock;
  }

  // A unit below base must be driven by something that arrives at each of its instants; what takes an input from
  // the caller looks at every cycle whether it is there.
  void drive(ScheduledUnit& u, std::uint32_t index, std::set<ValueId>& reads) const {
    const bool takes_input =
        std::ranges::any_of(u.values, [&](ValueId v) { return std::holds_alternative<core::Input>(core_[v].rhs); });
    const auto driven = [&] {
      return std::ranges::any_of(reads, [&](ValueId v) { return core_[v].clock == u.clock && !s_.is_delayed(v); });
    };
    while (u.clock != base_clock && (takes_input || !driven())) {
      read(reads, core_[u.clock].condition, index);
      u.clock = core_[u.clock].parent;
    }
  }

  // What streams between units are sampled on says whether there is an element: it is always waited for.
  std::set<ValueId> sampling(ClockId clock, const std::vector<ValueId>& on_clocks,
                             const std::set<ValueId>& reads) const {
    std::set<ValueId> conditions;
    const auto add = [&](ValueId v) {
      for (const ClockId c : ancestors(core_, core_[v].clock, clock)) conditions.insert(core_[c].condition);
    };
    for (ValueId v : on_clocks)
      if (stream_[v.index]) add(v);
    for (ValueId v : reads) add(v);
    return conditions;
  }

  // Conditions come before what they sample.
  void list_operands(ScheduledUnit& u, std::uint32_t index, const std::set<ValueId>& reads,
                     const std::set<ValueId>& always) const {
    const auto needed = [&](ValueId v) { return always.contains(v) ? std::vector<Literal>() : guards(v, index); };
    u.operands.assign(reads.begin(), reads.end());
    std::ranges::sort(u.operands, {}, [&](ValueId v) { return std::tuple(depth(v), needed(v).size(), v); });
    u.needed.clear();
    for (ValueId v : u.operands) u.needed.push_back(needed(v));
  }

  // The conditions under which a unit looks at an operand that may come late. Only inputs and
  // what earlier units compute may decide, and they must not have to wait themselves.
  std::vector<Literal> guards(ValueId v, std::uint32_t index) const {
    std::vector<Literal> out;
    if (!late_[v.index]) return out;
    const std::vector<Literal> present = graph_.presence(core_[v].clock);
    for (const Literal& l : graph_.demand(v).literals) {
      if (core_[l.condition].clock != core_[v].clock || late_[l.condition.index]) continue;
      if (std::ranges::find(present, l) != present.end()) continue;
      const std::uint32_t unit = s_.unit_of[l.condition.index];
      const bool earlier = unit != Schedule::nowhere && unit < index;
      if (earlier || s_.is_base_input(l.condition)) out.push_back(l);
    }
    return out;
  }

  std::ptrdiff_t depth(ValueId v) const {
    const Ancestors all = ancestors(core_, core_[v].clock);
    return std::ranges::distance(all.begin(), all.end());
  }

  const Schedule& s_;
  const Core& core_;
  const DependenceGraph& graph_;
  std::vector<bool> late_, stream_;
};

}  // namespace

Schedule complete_units(Schedule s, const ScheduleFacts& facts) {
  const Completion completion(s, facts.graph);
  for (std::uint32_t u = 0; u < s.units.size(); ++u) s.units[u] = completion.complete(std::move(s.units[u]), u);
  return s;
}

}  // namespace rml
