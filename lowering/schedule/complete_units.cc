// Finds which operands a unit reads, on which clock it advances, and when it must wait for an operand.
//
// First the operands: the values that its own values mention and that it does not compute. They determine its clock:
// the nearest common clock, or a clock above it if no operand arrives at each instant of the common one. The clock
// determines which conditions must be read to find out which values are present. For an operand that may come late the
// unit waits only at instants where prompt conditions hold; these conditions are read as well.
#include <algorithm>
#include <set>
#include <tuple>

#include "lowering/schedule/passes.h"

namespace rml {

namespace {

// By ValueId: true if the value may be known later than the inputs of its cycle, because it depends on a post.
std::vector<bool> find_late(const DependenceGraph& graph) {
  const Core& core = graph.core();
  std::vector<ValueId> posts;
  for (std::size_t i = 0; i < core.values.size(); ++i)
    if (std::holds_alternative<core::Post>(core.values[i].rhs)) posts.push_back(ValueId{i});
  return Dependents(graph).of(std::move(posts));
}

// By ValueId: true if it passes from one unit to another, or to an output.
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

  // A unit on a sampled clock must be driven by an operand that arrives at each of its instants. A unit that takes an
  // input from the caller must run at every cycle in which the input may be present.
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

  // The conditions on which streams between units are sampled. They decide whether there is an element, so the unit
  // always waits for them.
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

  // Lists the operands of a unit. Conditions precede the values that they sample.
  void list_operands(ScheduledUnit& u, std::uint32_t index, const std::set<ValueId>& reads,
                     const std::set<ValueId>& always) const {
    const auto needed = [&](ValueId v) { return always.contains(v) ? std::vector<Literal>() : guards(v, index); };
    u.operands.assign(reads.begin(), reads.end());
    std::ranges::sort(u.operands, {}, [&](ValueId v) { return std::tuple(depth(v), needed(v).size(), v); });
    u.needed.clear();
    for (ValueId v : u.operands) u.needed.push_back(needed(v));
  }

  // The conditions under which a unit reads an operand that may come late. Only inputs and values of earlier units may
  // decide this, and they must not wait themselves.
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
