// Moves two kinds of values into a segmented unit:
//
//   its operands     that only this unit reads, if the values they are computed from take no more room
//   waiting values   whose results are used only together with the unit's own results, after the segment's end: the
//                    forward direction of a bidirectional network, whose rows come with those of the other direction
#include <algorithm>
#include <set>

#include "lowering/schedule/passes.h"

#include "semantics/core/queries.h"

namespace rml {

namespace {

class Absorption {
 public:
  Absorption(Schedule& s, const DependenceGraph& graph)
      : s_(s), core_(*s.core), graph_(graph), looked_at_(conditions(*s.core)) {
    users_.resize(core_.values.size());
    for (std::size_t i = 0; i < core_.values.size(); ++i)
      for (const Dependence& e : graph_.of(ValueId{i})) users_[e.on.index].push_back(ValueId{i});
    for (const Port& o : core_.outputs) looked_at_[s_.sources[o.value.index].value.index] = true;
    for (const CoreAssert& a : core_.asserts) looked_at_[a.condition.index] = true;
  }

  // Takes the operands of the unit into it, then their operands, and so on.
  void take_operands(std::uint32_t unit) {
    ScheduledUnit& u = s_.units[unit];
    const auto here = [&](ValueId v) { return s_.unit_of[v.index] == unit; };
    std::vector<ValueId> work = u.values, found;
    while (!work.empty()) {
      const ValueId user = work.back();
      work.pop_back();
      for_each_operand(core_[user].rhs, [&](ValueId v) {
        if (!in_forward_unit(v) || core_[v].clock != u.clock || looked_at_[v.index]) return;
        if (core_[v].dtype == DType::boolean || !only_computes(core_, v)) return;
        if (!std::ranges::all_of(users_[v.index], here)) return;
        const auto there = [&](ValueId o) {
          return core_.is_const(o) || core_[o].shape.empty() || stands_still(o) ||
                 std::ranges::any_of(users_[o.index], here);
        };
        std::int64_t more = 0;
        for_each_operand(core_[v].rhs, [&](ValueId o) { more += there(o) ? 0 : *element_count(core_[o].shape); });
        if (more > *element_count(core_[v].shape)) return;
        move(v, unit);
        found.push_back(v);
        work.push_back(v);
      });
    }
    std::ranges::reverse(found);
    lead(unit, found);
  }

  void take_waiting(std::uint32_t unit) {
    const std::set<ValueId> all = from_layers(waiting(unit));
    if (keeps_more(all, unit)) return;
    const std::vector<ValueId> order = ordered(all);
    for (const ValueId v : order) move(v, unit);
    lead(unit, order);
  }

 private:
  bool in_forward_unit(ValueId v) const {
    const std::uint32_t from = s_.unit_of[v.index];
    return from != Schedule::nowhere && !s_.units[from].segmented;
  }
  // True for a memory whose next value is itself: a parameter that no optimiser moves, or a constant.
  bool stands_still(ValueId v) const {
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    return f != nullptr && f->next == v;
  }
  void move(ValueId v, std::uint32_t unit) {
    std::erase(s_.units[s_.unit_of[v.index]].values, v);
    s_.unit_of[v.index] = unit;
    s_.units[unit].values.push_back(v);
  }
  void lead(std::uint32_t unit, const std::vector<ValueId>& values) {
    std::vector<SweepItem> items;
    for (const ValueId v : values) items.push_back({v, any_instant});
    std::vector<SweepItem>& leading = s_.units[unit].plan.sweeps[0].items;
    leading.insert(leading.begin(), items.begin(), items.end());
  }

  // The units that read late values of this one at every instant. `dependents`: all units that wait for it anyway.
  std::set<std::uint32_t> late_readers(std::uint32_t unit) const {
    std::set<std::uint32_t> found;
    for (std::size_t i = 0; i < core_.values.size(); ++i) {
      if (!in_forward_unit(ValueId{i}) || core_.values[i].clock != s_.units[unit].clock) continue;
      for (const Dependence& e : graph_.of(ValueId{i}))
        if (e.weight == 0 && is_late(s_, unit, e.on)) found.insert(s_.unit_of[i]);
    }
    return found;
  }
  std::set<std::uint32_t> dependents(std::uint32_t unit) const {
    std::set<std::uint32_t> found = {unit};
    for (std::size_t before = 0; before != found.size();) {
      before = found.size();
      for (std::size_t i = 0; i < core_.values.size(); ++i)
        for (const Dependence& e : graph_.of(ValueId{i}))
          if (s_.unit_of[i] != Schedule::nowhere && found.contains(s_.unit_of[s_.sources[e.on.index].value.index]))
            found.insert(s_.unit_of[i]);
    }
    return found;
  }

  // The largest set of values of other forward units that no use needs before the segment's end.
  std::set<ValueId> waiting(std::uint32_t unit) const {
    const std::set<std::uint32_t> late = late_readers(unit);
    std::set<ValueId> all;
    if (late.empty()) return all;
    const std::set<std::uint32_t> behind = dependents(unit);
    for (std::size_t i = 0; i < core_.values.size(); ++i) {
      const ValueId v{i};
      if (in_forward_unit(v) && !behind.contains(s_.unit_of[i]) && !looked_at_[i] && may_wait(v, unit)) all.insert(v);
    }
    std::vector<ValueId> early;
    for (const ValueId v : all)
      if (std::ranges::any_of(users_[v.index], [&](ValueId user) {
            const std::uint32_t in = s_.unit_of[user.index];
            return !all.contains(user) && (in == Schedule::nowhere || (in != unit && !late.contains(in)));
          }))
        early.push_back(v);
    while (!early.empty()) {
      const ValueId v = early.back();
      early.pop_back();
      if (all.erase(v) == 0) continue;
      for (const Dependence& e : graph_.of(v)) early.push_back(e.on);
    }
    return all;
  }
  bool may_wait(ValueId v, std::uint32_t unit) const {
    if (core_[v].dtype == DType::boolean || stands_still(v)) return false;
    const core::Rhs& rhs = core_[v].rhs;
    const auto* f = std::get_if<core::Fby>(&rhs);
    return within(core_, core_[v].clock, s_.units[unit].clock) &&
           (only_computes(core_, v) || std::holds_alternative<core::When>(rhs) ||
            std::holds_alternative<core::Merge>(rhs) || (f != nullptr && core_.is_const(f->init)));
  }
  // The products that batch_in_time may take out of the loop, and the values computed from them. One operand of such a
  // product stays the same; neither is computed from the product.
  std::set<ValueId> from_layers(const std::set<ValueId>& all) const {
    std::set<ValueId> found;
    for (const ValueId v : all) {
      const auto* a = apply_of(core_, v);
      if (a == nullptr || operators()[a->op].lowering != Lowering::matmul || found.contains(v)) continue;
      const ValueId x = a->operands[0], y = a->operands[1];
      if (!stands_still(x) && !stands_still(y)) continue;
      const std::set<ValueId> behind = computed_from(v, all);
      if (!behind.contains(x) && !behind.contains(y)) found.insert(behind.begin(), behind.end());
    }
    return found;
  }
  std::set<ValueId> computed_from(ValueId v, const std::set<ValueId>& all) const {
    std::set<ValueId> found = {v};
    std::vector<ValueId> work = {v};
    while (!work.empty()) {
      const ValueId of = work.back();
      work.pop_back();
      for (const ValueId user : users_[of.index])
        if (all.contains(user) && found.insert(user).second) work.push_back(user);
    }
    return found;
  }
  // True if an instant keeps more elements afterwards: the operands of `all` instead of its results.
  bool keeps_more(const std::set<ValueId>& all, std::uint32_t unit) const {
    std::int64_t before = 0, after = 0;
    std::set<ValueId> read;
    for (const ValueId v : all) {
      const auto outside = [&](ValueId user) { return !all.contains(user); };
      if (std::ranges::any_of(users_[v.index], outside)) before += *element_count(core_[v].shape);
      for_each_operand(core_[v].rhs, [&](ValueId o) {
        const auto here = [&](ValueId user) { return s_.unit_of[user.index] == unit; };
        const bool there =
            all.contains(o) || core_.is_const(o) || stands_still(o) || std::ranges::any_of(users_[o.index], here);
        if (!there && read.insert(o).second) after += *element_count(core_[o].shape);
      });
    }
    return after > before;
  }
  // Orders the values so that operands of the same instant come first.
  std::vector<ValueId> ordered(const std::set<ValueId>& all) const {
    std::vector<ValueId> order;
    std::set<ValueId> done;
    while (order.size() < all.size()) {
      const std::size_t before = order.size();
      for (const ValueId v : all) {
        const auto is_missing = [&](const Dependence& e) {
          return e.weight == 0 && all.contains(e.on) && !done.contains(e.on);
        };
        if (done.contains(v) || std::ranges::any_of(graph_.of(v), is_missing)) continue;
        done.insert(v);
        order.push_back(v);
      }
      if (order.size() == before) throw std::logic_error("absorb: a cycle within an instant");
    }
    return order;
  }

  Schedule& s_;
  const Core& core_;
  const DependenceGraph& graph_;
  std::vector<std::vector<ValueId>> users_;  // indexed by ValueId: its users
  std::vector<bool> looked_at_;              // one per ValueId: true if an output, an assertion or a condition reads it
};

}  // namespace

Schedule absorb(Schedule s, const ScheduleFacts& facts) {
  if (std::ranges::none_of(s.units, &ScheduledUnit::segmented)) return s;
  Absorption absorption(s, facts.graph);
  for (std::uint32_t u = 0; u < s.units.size(); ++u) {
    if (!s.units[u].segmented) continue;
    absorption.take_operands(u);
    absorption.take_waiting(u);
  }
  return s;
}

}  // namespace rml
