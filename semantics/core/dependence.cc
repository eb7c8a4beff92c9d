// Dependence edges, demand guards, and the removal of values that are never needed.
//
// The demand guards are a fixed point. Each value starts as `never` needed. From the roots
// (outputs, asserts, operators that can fail) guards flow along the edges, and the guard of a
// value is the intersection over its uses. The search terminates: the first use sets the guard,
// and each later change only removes literals. Closing a guard under implication terminates
// because there are two literals per value and none is added twice.
//
// A guard has at most 500 literals, so that nested branches take time and memory in proportion to
// their number. Literals beyond this number are left out: a guard with fewer literals is weaker, but
// remains true. A contradiction to one of the literals is still found.
//
// A guard crosses an edge of fby or post where its literal has a counterpart one instant earlier
// or later: through post, `post b` becomes b and b becomes `fby true b`; through fby the reverse.
#include "semantics/core/dependence.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <set>

#include "semantics/core/queries.h"

namespace rml {

namespace {

constexpr std::size_t most_literals = 500;  // per guard

}  // namespace

bool Guard::contains(Literal l) const { return std::binary_search(literals.begin(), literals.end(), l); }

DependenceGraph::DependenceGraph(const Core& core, std::span<const ValueId> ends)
    : core_(core), edges_(core.values.size()), demand_(core.values.size()), delayed_(core.values.size()) {
  for (auto& g : demand_) g.never = true;
  for (std::size_t i = 0; i < core.values.size(); ++i)
    if (const auto* f = std::get_if<core::Fby>(&core.values[i].rhs); f != nullptr && core.is_const(f->init))
      delayed_[f->next.index].push_back(ValueId{i});
  build_edges();
  find_demand(ends);
}

std::vector<Literal> DependenceGraph::presence(ClockId clock) const {
  std::vector<Literal> path;
  for (const ClockId c : path_to(core_, clock)) path.push_back({core_[c].condition, core_[c].positive});
  return path;
}

// On a clock that never ticks, negations may form a ring: `a: bool when c = if d then not a else
// not a`, where folding does not see that c is false. In a ring, any of its literals is a valid
// result. The loop terminates: samplings leave their clock and never return to it, so their
// number is finite. Negations on one clock end, or repeat `mark`: `mark` moves after growing
// numbers of steps, so that the interval finally exceeds the length of the ring (Brent's cycle
// detection).
Literal DependenceGraph::strip(Literal l) const {
  static const OperatorId logical_not = operators().require("logical_not");
  ValueId mark = l.condition;
  for (std::uint64_t steps = 0, most = 1;; ++steps) {
    if (steps > 0 && l.condition == mark) return l;
    if (steps == most) {
      mark = l.condition;
      most += steps + 1;
    }
    if (const auto* a = apply_of(core_, l.condition, logical_not)) {
      l = {a->operands[0], !l.positive};
    } else if (const auto* w = std::get_if<core::When>(&core_[l.condition].rhs)) {
      l.condition = w->operand;
    } else {
      return l;
    }
  }
}

void DependenceGraph::add(Guard& g, Literal l) const {
  static const OperatorId op_and = operators().require("logical_and");
  static const OperatorId op_or = operators().require("logical_or");
  if (g.never) return;
  l = strip(l);
  if (const auto truth = constant_truth(core_, l.condition)) {
    g.never = truth != l.positive;
    return;
  }
  auto at = std::lower_bound(g.literals.begin(), g.literals.end(), l);
  if (at != g.literals.end() && *at == l) return;
  if (g.contains({l.condition, !l.positive})) {
    g.never = true;
    return;
  }
  if (g.literals.size() == most_literals) return;
  g.literals.insert(at, l);
  const auto& rhs = core_[l.condition].rhs;
  if (const auto* a = apply_of(core_, l.condition, l.positive ? op_and : op_or)) {
    for (ValueId o : a->operands) add(g, {o, l.positive});
  } else if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    if (constant_truth(core_, m->on_false) == !l.positive) {
      add(g, {m->condition, true});
      add(g, {m->on_true, l.positive});
    } else if (constant_truth(core_, m->on_true) == !l.positive) {
      add(g, {m->condition, false});
      add(g, {m->on_false, l.positive});
    }
  }
  if (std::holds_alternative<core::Fby>(rhs))
    g.never = g.never || std::ranges::any_of(g.literals, [&](Literal o) { return never_at_start(l, o); });
}

// At the first instant, `fby b x` equals b.
bool DependenceGraph::never_at_start(Literal a, Literal b) const {
  const auto excludes = [&](Literal start, Literal l) {
    const auto* fby = std::get_if<core::Fby>(&core_[l.condition].rhs);
    return start.positive && fby != nullptr && core_[l.condition].clock == core_[start.condition].clock &&
           constant_truth(core_, fby->init) == !l.positive && is_start(core_, start.condition);
  };
  return excludes(a, b) || excludes(b, a);
}

void DependenceGraph::build_edges() {
  std::vector<Dependence> out;
  for (std::size_t i = 0; i < core_.values.size(); ++i) {
    const Value& v = core_.values[i];
    out.clear();
    if (std::holds_alternative<core::Const>(v.rhs)) continue;
    if (v.clock.valid() && core_[v.clock].parent.valid()) out.push_back({.on = core_[v.clock].condition});
    if (const auto* m = std::get_if<core::Merge>(&v.rhs)) {
      out.push_back({.on = m->condition});
      out.push_back({.on = m->on_true, .guarded = true, .guard = {m->condition, true}});
      out.push_back({.on = m->on_false, .guarded = true, .guard = {m->condition, false}});
    } else if (const auto* f = std::get_if<core::Fby>(&v.rhs)) {
      out.push_back({.on = f->init, .at_start = true});
      out.push_back({.on = f->next, .weight = -1});
    } else if (const auto* p = std::get_if<core::Post>(&v.rhs)) {
      out.push_back({.on = p->operand, .weight = 1});
    } else {
      for_each_operand(v.rhs, [&](ValueId o) { out.push_back({.on = o}); });
    }
    std::erase_if(out, [&](const Dependence& d) { return core_.is_const(d.on); });
    edges_[i] = out;
  }
}

Guard DependenceGraph::guard_of(ValueId v, const Dependence& e) const {
  Guard g = demand_[v.index];
  if (e.guarded) add(g, e.guard);
  if (e.at_start && !core_.is_const(e.on)) add_presence(g, e.on);
  return g;
}

// The literals that hold one instant of `clock` later (weight 1) or earlier (weight -1).
Guard DependenceGraph::translate(const Guard& g, ClockId clock, int weight) const {
  Guard out;
  for (const Literal& l : g.literals) {
    // At the first instant of a clock, no earlier instant is needed, nor on any sampling of that
    // clock.
    if (weight < 0 && l.positive && is_start(core_, l.condition) && within(core_, clock, core_[l.condition].clock))
      out.never = true;
    if (core_[l.condition].clock != clock) continue;
    const auto& rhs = core_[l.condition].rhs;
    if (weight > 0) {
      if (const auto* p = std::get_if<core::Post>(&rhs)) add(out, {p->operand, l.positive});
      for (ValueId f : delayed_[l.condition.index])
        if (core_[f].clock == clock) add(out, {f, l.positive});
    } else if (const auto* f = std::get_if<core::Fby>(&rhs); f != nullptr && core_.is_const(f->init)) {
      if (!core_.is_const(f->next)) add(out, {f->next, l.positive});
    }
  }
  return out;
}

void DependenceGraph::meet(ValueId v, Guard g, std::vector<ValueId>& changed) {
  if (g.never) return;
  Guard& d = demand_[v.index];
  if (d.never) {
    d = std::move(g);
  } else {
    std::vector<Literal> both;
    std::set_intersection(d.literals.begin(), d.literals.end(), g.literals.begin(), g.literals.end(),
                          std::back_inserter(both));
    if (both.size() == d.literals.size()) return;
    d.literals = std::move(both);
  }
  changed.push_back(v);
}

Guard DependenceGraph::demand_across(ValueId v, const Dependence& e) const {
  Guard g = guard_of(v, e);
  if (g.never) return g;
  const ClockId clock = core_[v].clock;
  if (e.weight != 0) {
    g = translate(g, clock, e.weight);
  } else if (clock.valid() && core_[clock].parent.valid() && core_[clock].condition == e.on) {
    // v needs the condition of its own clock also where that condition is false.
    Guard own;
    add(own, {e.on, core_[clock].positive});
    std::erase_if(g.literals, [&](const Literal& l) { return own.contains(l); });
  } else if (within(core_, clock, core_[e.on].clock)) {
    return g;  // v is present, so its operand is present too, and no condition is needed
  }
  add_presence(g, e.on);
  return g;
}

void DependenceGraph::add_presence(Guard& g, ValueId v) const {
  for (const Literal& l : presence(core_[v].clock)) add(g, l);
}

void DependenceGraph::demand_edge(ValueId v, const Dependence& e, std::vector<ValueId>& changed) {
  // A fby depends on its clock at all earlier instants, so it needs the clock's condition
  // unguarded.
  if (std::holds_alternative<core::Fby>(core_[v].rhs) && core_[v].clock.valid() &&
      core_[core_[v].clock].parent.valid() && core_[core_[v].clock].condition == e.on)
    meet(e.on, {}, changed);
  meet(e.on, demand_across(v, e), changed);
}

void DependenceGraph::find_demand(std::span<const ValueId> ends) {
  std::vector<ValueId> changed;
  auto root = [&](ValueId v) {
    Guard g;
    add_presence(g, v);
    meet(v, std::move(g), changed);
  };
  for (const ValueId v : results(core_))
    if (core_[v].clock != never_clock) root(v);
  for (const ValueId v : failing(core_)) root(v);
  for (const ValueId v : ends) root(v);
  // Processes users before operands, so that most guards are complete when they are passed on.
  std::priority_queue<ValueId> work;
  std::vector<bool> waits(core_.values.size());
  for (;;) {
    for (const ValueId v : changed) {
      if (!waits[v.index]) work.push(v);
      waits[v.index] = true;
    }
    changed.clear();
    if (work.empty()) return;
    const ValueId v = work.top();
    work.pop();
    waits[v.index] = false;
    for (const Dependence& e : edges_[v.index]) demand_edge(v, e, changed);
  }
}

Dependents::Dependents(const DependenceGraph& graph) : graph_(graph), users_(graph.core().values.size()) {
  for (std::size_t i = 0; i < users_.size(); ++i)
    for (const Dependence& e : graph.of(ValueId{i})) users_[e.on.index].push_back(ValueId{i});
}

std::vector<bool> Dependents::of(std::vector<ValueId> work) const {
  std::vector<bool> found(users_.size());
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (found[v.index] || graph_.demand(v).never) continue;
    found[v.index] = true;
    work.insert(work.end(), users_[v.index].begin(), users_[v.index].end());
  }
  return found;
}

namespace {

// The operand of a value that can never be needed.
struct DeadOperand {
  ValueId value;
  enum Part : std::uint8_t { on_true, on_false, init, next, all } part;
};

std::vector<DeadOperand> find_dead_operands(const Core& core) {
  std::vector<DeadOperand> dead;
  std::set<ValueId> parameters;
  for (const Parameter& p : core.parameters) parameters.insert(p.value);
  const DependenceGraph graph(core);
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    const ValueId v{i};
    if (graph.demand(v).never) continue;
    for (const Dependence& e : graph.of(v)) {
      const bool fby = std::holds_alternative<core::Fby>(core[v].rhs);
      if (!e.guarded && !fby && e.weight <= 0) continue;
      if (fby && !e.at_start && e.weight == 0) continue;  // the edge leads to the condition of the fby's clock
      if (e.on == v && parameters.contains(v)) continue;  // a parameter is saved even if nothing reads it
      if (!graph.demand_across(v, e).never) continue;
      if (e.guarded)
        dead.push_back({v, e.guard.positive ? DeadOperand::on_true : DeadOperand::on_false});
      else if (fby)
        dead.push_back({v, e.at_start ? DeadOperand::init : DeadOperand::next});
      else
        dead.push_back({v, DeadOperand::all});
    }
  }
  return dead;
}

}  // namespace

Core prune_undemanded(Core core) {
  for (const auto& [v, part] : find_dead_operands(core)) {
    const ValueId zero{core.values.size()};
    Value none = core[v];
    none.rhs = core::Const{Tensor(none.dtype, none.shape)};
    none.name.clear();
    core.values.push_back(std::move(none));
    auto& rhs = core[v].rhs;
    switch (part) {
      case DeadOperand::on_true:
        std::get<core::Merge>(rhs).on_true = zero;
        break;
      case DeadOperand::on_false:
        std::get<core::Merge>(rhs).on_false = zero;
        break;
      case DeadOperand::init:
        std::get<core::Fby>(rhs).init = zero;
        break;
      case DeadOperand::next:
        std::get<core::Fby>(rhs).next = zero;
        break;
      case DeadOperand::all:
        rhs = core[zero].rhs;
        break;
    }
  }
  return remove_unreachable(std::move(core));
}

}  // namespace rml
