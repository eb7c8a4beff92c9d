// Reduces flows to the shapes of their expressions, and reports expressions without a derivative.
#include "semantics/differentiate/flow.h"

namespace rml::derivation {

Flow reduced(Derivation& d, Flow flow, ExprId e) {
  const ShapeOf shape = d.shapes.of(e);
  if (flow.shape == shape) return flow;
  flow.adjoint = d.write.call("sum_to", {flow.adjoint, d.write.shape_of(d.write.value(e))});
  flow.shape = shape;
  return flow;
}

ExprId sampled_by(GradientWriter& write, ExprId e, const std::vector<Sampling>& list) {
  for (const Sampling& s : list) e = write.when(e, s.condition, s.positive);
  return e;
}

Diagnostic& refuse(Derivation& d, ExprId e, const std::string& because) {
  d.failed = true;
  return d.derivatives.diagnostics().report(Code::E0601, d.node.program.span(e), "no gradient flows through " + because,
                                            "in `" + d.node.text(d.node.node.name) + "`, which is differentiated");
}

}  // namespace rml::derivation
