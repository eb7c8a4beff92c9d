// One node's gradient equations (see differentiate.h and the table of rules in docs/language.md).
//
// Three parts, each of which only reads what the one before made: what takes part is found (Activity), adjoints are
// passed backward from the outputs by rules, equation by equation, and what was written is put in order
// (GradientWriter). What the adjoint needs of the forward pass gets a name there. Shapes are not known yet, so an
// adjoint is summed to its variable's shape unless both are plainly the same (Shapes).
#include "semantics/differentiate/node.h"

#include "semantics/differentiate/backward.h"

namespace rml {

namespace {

using namespace derivation;

ClockTermId clock_of_output(const NodeFacts& node, std::uint32_t j) {
  return node.clocks.variable_clocks[node.node.inputs.size() + j];
}

// The inputs behind those of the original: a `bp` for each root of its clocks, an adjoint for each output that has
// one, the optimizer's arguments for each root.
std::vector<Symbol> add_inputs(const NodeFacts& node, GradientWriter& write, AddedInputs& added, Derivative& out) {
  const auto root = [&](std::uint32_t j) { return root_of(node.clocks, clock_of_output(node, j)); };
  for (std::uint32_t j = 0; j < node.node.outputs.size(); ++j) {
    if (!node.key.outputs[j]) continue;
    out.adjoints.push_back(j);
    if (std::ranges::find(out.roots, root(j)) == out.roots.end()) out.roots.push_back(root(j));
  }
  if (out.roots.empty()) out.roots.push_back(UINT32_MAX);
  for (const std::uint32_t r : out.roots) added.bps[r] = write.new_input("bp");
  std::vector<Symbol> adjoints;
  for (const std::uint32_t j : out.adjoints)
    adjoints.push_back(write.new_input("d" + node.text(node.node.outputs[j].name)));
  for (const std::uint32_t r : out.roots) {
    std::vector<Symbol>& rates = added.rates[r];
    for (std::size_t k = 0; k < node.key.rates; ++k)
      rates.push_back(write.new_input(node.text(node.program[node.key.optimizer].inputs[k].name)));
    if (!node.key.step_sum.valid()) continue;
    for (const char* const name : step_inputs) added.steps[r].push_back(write.new_input(name));
  }
  return adjoints;
}

// The adjoints that are given, each where the `bp` of its root holds.
std::vector<Seed> seeds(Derivation& d, const Derivative& out, const std::vector<Symbol>& adjoints) {
  std::vector<Seed> list;
  for (std::size_t k = 0; k < out.adjoints.size(); ++k) {
    const std::uint32_t j = out.adjoints[k];
    const auto v = static_cast<std::uint32_t>(d.node.node.inputs.size()) + j;
    const ClockTermId clock = clock_of_output(d.node, j);
    d.write.at_equation(d.node.names.variables[v].equation);
    const Symbol bp = d.added.bps.at(root_of(d.node.clocks, clock));
    list.push_back({v, d.acts.down_all(bp, d.conditions.down_to(clock)), d.write.name(adjoints[k])});
  }
  return list;
}

// The outputs behind those of the original: gradients of inputs, and where each is present unless `bp` says it.
void add_outputs(Derivation& d, const std::vector<Adjoint>& adjoints, Derivative& out) {
  std::map<Symbol, std::uint32_t> given;  // acts that are outputs, and whose
  for (std::uint32_t i = 0; i < d.node.node.inputs.size(); ++i) {
    const Adjoint& a = adjoints[i];
    if (!d.activity.is_useful(i) || !a.given()) continue;
    d.write.span = d.node.node.inputs[i].span;
    const ClockTermId clock = d.node.clocks.variable_clocks[i];
    const auto bp = d.added.bps.find(root_of(d.node.clocks, clock));
    Derivative::Extra gradient{Derivative::Extra::gradient, i, Derivative::no_input};
    if (bp == d.added.bps.end() || !d.acts.is_down_all(a.act, bp->second, d.conditions.down_to(clock))) {
      const auto [own, is_new] = given.try_emplace(a.act, i);
      gradient.active_with = own->second;
      if (is_new) {
        d.write.new_output(a.act, "bp_" + d.node.variable_text(i));
        out.extras.push_back({Derivative::Extra::activity, i, Derivative::no_input});
      }
    }
    d.write.new_output(a.value, "d" + d.node.variable_text(i));
    out.extras.push_back(gradient);
  }
}

}  // namespace

ast::Node derive_node(Derivatives& derivatives, const DerivativeKey& key, const std::string& name, Derivative& out) {
  const NodeFacts node(derivatives.program(), derivatives.checked(), key);
  const Activity activity(node, [&](NodeId g) { return derivatives.has_parameters(g); });
  Shapes shapes(node);
  GradientWriter write(derivatives.program(), node, name);
  Conditions conditions(node, write);
  Acts acts(conditions, write);
  AddedInputs added;
  const std::vector<Symbol> given = add_inputs(node, write, added, out);
  Derivation d{node, activity, added, shapes, write, conditions, acts, derivatives};
  const std::vector<Adjoint> adjoints = pass_backward(d, seeds(d, out, given));
  add_outputs(d, adjoints, out);
  out.failed = out.failed || d.failed;
  return write.finish();
}

}  // namespace rml
