// Splits units into tasks. First it forms atoms, which must stay together. Atoms are ordered so that each follows the
// atoms that it needs at the same instant, and otherwise in the order of the unit, so that of two faults the same comes
// first. Then they are cut into units in that order. Units depend on each other cyclically only through a stream that
// is an instant late:
//
//   h = 0 fby g;  a = w * h;  g = tanh(a + x)        {a}  {g, h}        h: 0, g, g, …
#include <algorithm>
#include <map>
#include <queue>

#include "lowering/schedule/passes.h"
#include "semantics/core/queries.h"
#include "semantics/time/memories.h"

namespace rml {

namespace {

bool is_function(Effort effort) {
  return effort != Effort::instruction && effort != Effort::simple && effort != Effort::division;
}

double count_of(const Shape& shape) { return static_cast<double>(element_count(shape).value_or(1)); }

// Estimates how long an instant of a value takes on one core.
double estimate_nanoseconds(const Core& core, const Costs::OfTask& costs, ValueId v) {
  const Value& value = core[v];
  const double size = count_of(value.shape);
  const auto* a = std::get_if<core::Apply>(&value.rhs);
  if (a == nullptr) return size * costs.simple;
  double most = size;
  for (const ValueId o : a->operands) most = std::max(most, count_of(core[o].shape));
  const OperatorInfo& row = operators()[a->op];
  switch (row.lowering) {
    case Lowering::matmul: {
      const Shape& x = core[a->operands[0]].shape;
      return size * static_cast<double>(x.empty() ? 1 : x.back()) * costs.product;
    }
    case Lowering::elementwise:
      return most * (is_function(row.effort) ? costs.function : costs.simple);
    case Lowering::kernel: {
      // Each element of a convolution's result takes as many products as a filter has elements.
      if (!is_convolution(row.window)) return most * costs.other;
      const Shape& filter = core[a->operands[1]].shape;
      return size * count_of(filter) / static_cast<double>(std::max<std::int64_t>(filter.empty() ? 1 : filter[0], 1)) *
             costs.product;
    }
    case Lowering::random:
      return most * costs.other;
    default:
      return most * costs.simple;
  }
}

class Partition {
 public:
  Partition(Schedule& s, const ScheduleFacts& facts, Grain grain, const Costs::OfTask& costs)
      : s_(s),
        core_(*s.core),
        graph_(facts.graph),
        components_(facts.components),
        grain_(grain),
        costs_(costs),
        uses_(core_),
        tells_clock_(conditions(core_)),
        shown_(core_.values.size()),
        atom_of_(core_.values.size()) {
    for (const Port& p : core_.outputs) shown_[p.value.index] = true;
  }

  void run() {
    s_.delayed.assign(core_.values.size(), false);
    std::vector<std::uint32_t> order;
    for (std::uint32_t u = 0, count = static_cast<std::uint32_t>(s_.units.size()); u < count; ++u) {
      order.push_back(u);
      auto part = static_cast<std::uint32_t>(s_.units.size());
      if (!s_.units[u].segmented) split(u);
      for (; part < s_.units.size(); ++part) order.push_back(part);
    }
    reorder(order);
  }

 private:
  bool member(ValueId v, std::uint32_t unit) const { return s_.unit_of[v.index] == unit; }

  // True if a recurrence may be cut at all of its memories. A recurrence that determines when other values are present
  // is not cut, because it is computed before they are read.
  bool can_be_cut(const Component& c) const {
    return std::ranges::all_of(c.values, [&](ValueId v) {
      const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
      if (f == nullptr) return !std::holds_alternative<core::Call>(core_[v].rhs);
      return core_.is_const(f->init) && !tells_clock_[v.index] &&
             !std::holds_alternative<core::Fby>(core_[f->next].rhs) && what_changes(core_, v, f->next).next.valid();
    });
  }

  // True for a memory whose next value is an equation of the same recurrence.
  bool is_cut(ValueId v) const {
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    if (f == nullptr || components_.of[v.index] == Components::none) return false;
    const Component& c = components_.list[components_.of[v.index]];
    return c.cyclic && components_.of[f->next.index] == components_.of[v.index] && can_be_cut(c);
  }

  // The single user of the value; invalid if there are several or none, or if the value is an output.
  ValueId only_user(ValueId v) const {
    const auto users = uses_.of(v);
    return users.size() == 1 && !shown_[v.index] ? users[0] : ValueId{};
  }

  // True for a transposition whose single user is a product, which reads the operand in place. With a transposed copy
  // the product would sum in another order.
  bool is_read_where_it_lies(ValueId v) const {
    const ValueId user = only_user(v);
    return apply_of(core_, v, Lowering::transpose) != nullptr && user.valid() &&
           apply_of(core_, user, Lowering::matmul) != nullptr && s_.unit_of[user.index] == s_.unit_of[v.index];
  }

  // A representative of the atom: a transposition stays with its product, a call with its results, and a recurrence
  // that is not cut stays whole.
  ValueId leader(ValueId v) const {
    if (const auto* result = std::get_if<core::Result>(&core_[v].rhs)) v = result->call;
    if (is_read_where_it_lies(v)) v = only_user(v);
    if (components_.of[v.index] == Components::none) return v;  // no use needs the value
    const Component& c = components_.list[components_.of[v.index]];
    return c.cyclic && !can_be_cut(c) ? c.values[0] : v;
  }

  void split(std::uint32_t unit) {
    atoms_.clear();
    std::vector<ValueId> cut;
    std::map<ValueId, std::size_t> atom_led_by;
    const std::vector<ValueId> values = std::move(s_.units[unit].values);
    for (const ValueId v : values) {
      if (is_cut(v)) {
        cut.push_back(v);
        continue;
      }
      const auto [at, fresh] = atom_led_by.try_emplace(leader(v), atoms_.size());
      if (fresh) atoms_.emplace_back();
      atoms_[at->second].push_back(v);
      atom_of_[v.index] = at->second;
    }
    for (const ValueId v : cut) s_.delayed[v.index] = true;
    const std::vector<std::uint32_t> part = cut_into_parts(unit, sorted(unit));
    const auto next = static_cast<std::uint32_t>(s_.units.size());
    for (const std::uint32_t p : part)
      if (p > 0 && next + p > s_.units.size()) s_.units.resize(next + p);
    for (std::size_t a = 0; a < atoms_.size(); ++a)
      for (const ValueId v : atoms_[a]) s_.unit_of[v.index] = part[a] == 0 ? unit : next + part[a] - 1;
    for (const ValueId v : cut) s_.unit_of[v.index] = s_.unit_of[std::get<core::Fby>(core_[v].rhs).next.index];
    s_.units[unit].values.clear();
    for (const ValueId v : values) s_.units[s_.unit_of[v.index]].values.push_back(v);
  }

  // By atom: its part. A part has all its operands before it computes anything. So it cannot read the memory of another
  // part on a clock that it determines itself; a separate part reads that memory:
  //
  //   c = x > 0;  h = 0 fby g(h, x when c);  s = sum(h)       {c} {s}, and g is computed in a later part
  std::vector<std::uint32_t> cut_into_parts(std::uint32_t unit, const std::vector<std::size_t>& order) const {
    std::vector<bool> begins(atoms_.size(), false);
    std::vector<std::uint32_t> part(atoms_.size(), 0);
    for (bool again = true; again;) {
      double taken = 0;
      std::uint32_t now = 0;
      for (const std::size_t a : order) {
        double time = 0;
        for (const ValueId v : atoms_[a]) time += estimate_nanoseconds(core_, costs_, v);
        if (a != order[0] && (begins[a] || grain_ == Grain::op || taken + time / 2 > costs_.worth)) {
          ++now;
          taken = 0;
        }
        taken += time;
        part[a] = now;
      }
      again = false;
      for (const std::size_t a : order)
        if (!begins[a] && reads_on_own_clock(unit, a, part)) again = begins[a] = true;
    }
    return part;
  }

  // True if an atom reads the memory of another part on a clock that its own part determines.
  bool reads_on_own_clock(std::uint32_t unit, std::size_t a, const std::vector<std::uint32_t>& part) const {
    const auto in_part = [&](ValueId v) { return member(v, unit) && part[atom_of_[v.index]] == part[a]; };
    for (const ValueId v : atoms_[a])
      for (const Dependence& e : graph_.of(v)) {
        const ValueId on = s_.sources[e.on.index].value;
        if (!s_.delayed[on.index] || !member(on, unit) || in_part(std::get<core::Fby>(core_[on].rhs).next)) continue;
        for (const ClockId c : ancestors(core_, core_[on].clock))
          if (in_part(core_[c].condition)) return true;
      }
    return false;
  }

  void reorder(const std::vector<std::uint32_t>& order) {
    std::vector<ScheduledUnit> sorted;
    std::vector<std::uint32_t> now(order.size());
    for (const std::uint32_t u : order) {
      now[u] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(s_.units[u]));
    }
    s_.units = std::move(sorted);
    for (std::uint32_t& u : s_.unit_of)
      if (u != Schedule::nowhere) u = now[u];
  }

  // The atoms in an order of dependence; among the ready ones, the first of the unit comes first.
  std::vector<std::size_t> sorted(std::uint32_t unit) const {
    std::vector<std::vector<std::size_t>> users(atoms_.size());
    std::vector<std::size_t> missing(atoms_.size(), 0);
    for (std::size_t a = 0; a < atoms_.size(); ++a)
      for (const ValueId v : atoms_[a])
        for (const Dependence& e : graph_.of(v)) {
          const ValueId on = s_.sources[e.on.index].value;
          if (!member(on, unit) || s_.delayed[on.index] || atom_of_[on.index] == a) continue;
          users[atom_of_[on.index]].push_back(a);
          ++missing[a];
        }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t a = 0; a < atoms_.size(); ++a)
      if (missing[a] == 0) ready.push(a);
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      const std::size_t a = ready.top();
      ready.pop();
      order.push_back(a);
      for (const std::size_t user : users[a])
        if (--missing[user] == 0) ready.push(user);
    }
    return order;
  }

  Schedule& s_;
  const Core& core_;
  const DependenceGraph& graph_;
  const Components& components_;
  const Grain grain_;
  const Costs::OfTask& costs_;
  const Uses uses_;
  const std::vector<bool> tells_clock_;  // one per ValueId: true if it is the condition of a clock
  std::vector<bool> shown_;              // one per ValueId: true if it is an output
  std::vector<std::vector<ValueId>> atoms_;
  std::vector<std::size_t> atom_of_;  // indexed by ValueId: the atom that contains it
};

}  // namespace

Schedule partition(Schedule s, const ScheduleFacts& facts, Grain grain, const Target& target) {
  Partition(s, facts, grain, target.costs.of_task).run();
  return drop_empty_units(std::move(s));
}

}  // namespace rml
