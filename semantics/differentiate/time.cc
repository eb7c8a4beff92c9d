// A sampling passes its adjoint on to the clock above, with zeros at the other cycles. A delay
// passes its adjoint on to the cycle before, `post` to the next cycle.
#include "semantics/differentiate/time.h"

namespace rml::derivation {

namespace {

// Passes the adjoint, which is on the branch's clock, on to the branch where `act` holds.
void pass_on_branch(Derivation& d, ExprId branch, Symbol act, ExprId adjoint, const ShapeOf& shape,
                    const PassOn& pass_on) {
  if (d.activity.takes_adjoint(branch)) pass_on(branch, {act, d.write.when(adjoint, act), shape});
}

}  // namespace

void pass_on_when(Derivation& d, const ast::When& x, const Flow& flow, const PassOn& pass_on) {
  GradientWriter& write = d.write;
  const Sampling sampling{d.conditions.named(x.condition), x.positive};
  const ExprId adjoint = write.name_of(flow.adjoint);
  const Symbol act = d.acts.up(flow.act, sampling);
  const ExprId inner = write.padded(flow.act, adjoint);
  const ExprId lifted = x.positive ? write.merge(sampling.condition, inner, write.zero())
                                   : write.merge(sampling.condition, write.zero(), inner);
  Flow up{act, write.when(lifted, act), flow.shape};
  if (d.node.is_name(x.operand) && flow.shape == d.shapes.of(x.operand))
    up.branch = Branch{sampling, flow.act, write.copy(adjoint)};
  pass_on(x.operand, std::move(up));
}

void pass_on_merge(Derivation& d, const ast::Merge& x, const Flow& flow, const PassOn& pass_on) {
  const Symbol c = d.conditions.named(x.condition);
  const ExprId adjoint = d.write.name_of(d.write.padded(flow.act, flow.adjoint));
  for (const auto& [branch, positive] : {std::pair(x.on_true, true), std::pair(x.on_false, false)}) {
    const Symbol act = d.acts.down(flow.act, {c, positive});
    pass_on_branch(d, branch, act, d.write.when(d.write.copy(adjoint), c, positive), flow.shape, pass_on);
  }
}

void pass_on_if(Derivation& d, const ast::If& x, const Flow& flow, const PassOn& pass_on) {
  const Symbol c = d.write.named(x.condition);
  const ExprId adjoint = d.write.name_of(d.write.padded(flow.act, flow.adjoint));
  for (const auto& [branch, truth] : {std::pair(x.then_branch, true), std::pair(x.else_branch, false)})
    pass_on_branch(d, branch, d.acts.where(flow.act, c, truth), d.write.copy(adjoint), flow.shape, pass_on);
}

void pass_on_fby(Derivation& d, ExprId e, const ast::Fby& x, const Flow& flow, const PassOn& pass_on) {
  const ExprId adjoint = d.write.name_of(d.write.padded(flow.act, flow.adjoint));
  if (d.activity.takes_adjoint(x.next)) {
    const Symbol act = d.acts.next(flow.act);
    const ExprId next = d.write.add(ast::Post{d.write.copy(adjoint)});
    pass_on(x.next, {act, d.write.when(next, act), flow.shape});
  }
  if (d.activity.takes_adjoint(x.init)) {
    const Symbol first = d.acts.first(d.node.checked.clocks.expr_clocks[e.index]);
    const Symbol act = d.acts.where(flow.act, first, true);
    pass_on(x.init, {act, d.write.when(d.write.copy(adjoint), act), flow.shape});
  }
}

void pass_on_post(Derivation& d, const ast::Post& x, const Flow& flow, const PassOn& pass_on) {
  const Symbol act = d.acts.previous(flow.act);
  const ExprId before = d.write.add(ast::Fby{d.write.zero(), d.write.padded(flow.act, flow.adjoint)});
  pass_on(x.operand, {act, d.write.when(before, act), flow.shape});
}

}  // namespace rml::derivation
