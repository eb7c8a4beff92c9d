// unify walks two chains of `on`s in parallel while their conditions agree. It stops at the first
// variable, which it links, or at the first difference. Example: `'a on c on d` and `'b on d`:
// the `d`s agree, then 'b is linked to `'a on c`.
#include "semantics/check/infer_clocks_solver.h"

#include <utility>

namespace rml {

SolverClock ClockSolver::add(Kind kind, SolverClock parent, ClockCondition condition) {
  SolverClock t{terms_.size()};
  terms_.push_back({kind, t, kind == Kind::on ? parent : t, parent, condition, {}});
  return t;
}

SolverClock ClockSolver::on(SolverClock parent, ClockCondition condition) {
  if (condition.constant()) return condition.positive ? parent : never();
  parent = find(parent);
  auto [it, fresh] = shared_.try_emplace(Key{parent.index, condition.id, condition.positive});
  if (fresh) it->second = add(Kind::on, parent, condition);
  return it->second;
}

SolverClock ClockSolver::find(SolverClock t) {
  while (terms_[t.index].link != t) {
    SolverClock next = terms_[t.index].link;
    terms_[t.index].link = terms_[next.index].link;
    t = terms_[t.index].link;
  }
  return t;
}

SolverClock ClockSolver::root(SolverClock t) {
  while (terms_[t.index].jump != t) {
    SolverClock next = terms_[t.index].jump;
    terms_[t.index].jump = terms_[next.index].jump;
    t = terms_[t.index].jump;
  }
  return t;
}

void ClockSolver::link(SolverClock from, SolverClock to, ExprId site) {
  terms_[from.index].link = to;
  terms_[from.index].jump = to;
  terms_[from.index].site = site;
}

ClockSolver::Outcome ClockSolver::unify(SolverClock a, SolverClock b, ExprId site) {
  std::vector<std::pair<SolverClock, SolverClock>> agreed;
  for (;;) {
    a = find(a);
    b = find(b);
    if (a == b) break;
    if (terms_[b.index].kind == Kind::variable) std::swap(a, b);
    if (terms_[a.index].kind == Kind::variable) {
      if (root(b) == a) return Outcome::cyclic;
      link(a, b, site);
      break;
    }
    bool a_never = is_never(a), b_never = is_never(b);
    if (a_never && b_never) break;
    if (a_never || b_never) return Outcome::never;
    if (terms_[a.index].condition != terms_[b.index].condition) return Outcome::different;
    agreed.emplace_back(a, b);
    a = terms_[a.index].parent;
    b = terms_[b.index].parent;
  }
  for (auto [from, to] : agreed) {
    from = find(from);
    to = find(to);
    if (from != to) link(from, to, site);
  }
  return Outcome::equal;
}

}  // namespace rml
