// signature: a node's interface with its inferred types and clocks.
//
// For users and golden tests: `node f(x: 'a, c: bool, y: 'a when c) -> (o: 'a)`, followed by
// `where 'a: float` if a type variable is restricted. Shapes are shown as written. The first
// output's clock variable is the node's own clock and is not shown; other clock variables are
// shown as `at 'k2`. Nested samplings are printed outermost first: `y: f32 when c when not d`.
#include "semantics/check/checked.h"
#include "semantics/check/signature_text.h"

namespace rml {

namespace {

std::string variable_name(std::int32_t index) {
  std::string name(1, static_cast<char>('a' + index % 26));
  if (index >= 26) name += std::to_string(index / 26);
  return "'" + name;
}

std::string constraint(DTypeSet set) {
  auto within = [&](DTypeSet kind) { return (set & ~kind) == 0; };
  if (within(dtypes::integer)) return "integer";
  if (within(dtypes::floating)) return "float";
  if (within(dtypes::numeric)) return "number";
  return {};
}

// The clock variable that is not shown: that of the first output, or else that of the first
// input.
std::uint32_t own_clock(const Checked& checked, NodeId n) {
  const ClockedNode& clocked = checked.clocks.nodes[n.index];
  const ast::Node& node = checked.program->nodes[n.index];
  std::size_t v = node.outputs.empty() ? 0 : node.inputs.size();
  if (v >= clocked.variable_clocks.size()) return 0;
  ClockTermId t = clocked.variable_clocks[v];
  while (t.valid() && clocked.terms[t.index].kind == ClockTerm::on) t = clocked.terms[t.index].parent;
  return t.valid() ? clocked.terms[t.index].index : 0;
}

std::string clock_text(const Checked& checked, NodeId n, ClockTermId t) {
  const ClockedNode& clocked = checked.clocks.nodes[n.index];
  const ResolvedNode& resolved = checked.names.nodes[n.index];
  std::string text;
  while (t.valid() && clocked.terms[t.index].kind == ClockTerm::on) {
    const ClockTerm& on = clocked.terms[t.index];
    std::string condition =
        on.condition.variable >= 0
            ? checked.program->text(resolved.variables[static_cast<std::size_t>(on.condition.variable)].name)
        : on.condition.expr.valid() ? atom_text(*checked.program, on.condition.expr)
                                    : "?";
    text = (on.positive ? " when " : " when not ") + condition + text;
    t = on.parent;
  }
  if (!t.valid()) return text;
  const ClockTerm& end = clocked.terms[t.index];
  if (end.kind == ClockTerm::never) return " never";
  return end.index == own_clock(checked, n) ? text : " at 'k" + std::to_string(end.index + 1) + text;
}

std::string parameter_text(const Checked& checked, NodeId n, std::size_t v, const ast::Parameter& p) {
  const TypedNode& typed = checked.types.nodes[n.index];
  const ClockedNode& clocked = checked.clocks.nodes[n.index];
  std::string text = checked.program->text(p.name) + ": ";
  if (typed.has_errors || v >= typed.variable_types.size()) return text + "?";
  TypeTerm type = typed.variable_types[v];
  text += type.variable >= 0 ? variable_name(type.variable) : std::string(name(type.dtype));
  if (p.type && p.type->has_shape) {
    text += "[";
    for (std::size_t i = 0; i < p.type->shape.size(); ++i)
      text += (i > 0 ? ", " : "") + expression_text(*checked.program, p.type->shape[i]);
    text += "]";
  }
  if (!clocked.has_errors && v < clocked.variable_clocks.size())
    text += clock_text(checked, n, clocked.variable_clocks[v]);
  if (!p.deal) return text;
  text += " dealt " + checked.program->text(p.deal->end);
  return p.deal->count.valid() ? text + " by " + expression_text(*checked.program, p.deal->count) : text;
}

}  // namespace

std::string signature(const Checked& checked, NodeId n) {
  const ast::Node& node = checked.program->nodes[n.index];
  std::string text = "node " + checked.program->text(node.name) + "(";
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    text += (i > 0 ? ", " : "") + parameter_text(checked, n, i, node.inputs[i]);
  text += ") -> (";
  for (std::size_t j = 0; j < node.outputs.size(); ++j)
    text += (j > 0 ? ", " : "") + parameter_text(checked, n, node.inputs.size() + j, node.outputs[j]);
  text += ")";
  const TypeScheme& scheme = checked.types.nodes[n.index].scheme;
  if (checked.types.nodes[n.index].has_errors) return text;
  const char* separator = " where ";
  for (std::size_t i = 0; i < scheme.variables.size(); ++i) {
    std::string what = constraint(scheme.variables[i]);
    if (what.empty()) continue;
    text += separator + variable_name(static_cast<std::int32_t>(i)) + ": " + what;
    separator = ", ";
  }
  return text;
}

}  // namespace rml
