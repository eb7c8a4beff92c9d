// Writes the gradient equations of one node (see the table of rules in docs/language.md).
//
// Three steps, each of which only reads the results of the one before. Activity finds the
// variables that take part. Rules pass adjoints backward from the outputs, equation by equation.
// GradientWriter puts the written equations in order; forward values that the adjoints need get
// names there. Shapes are not known yet, so an adjoint is summed to its variable's shape unless
// Shapes proves both equal.
#include "semantics/differentiate/node.h"

#include "semantics/differentiate/backward.h"

namespace rml {

namespace {

using namespace derivation;

ClockTermId clock_of_output(const NodeFacts& node, std::uint32_t j) {
  return node.clocks.variable_clocks[node.node.inputs.size() + j];
}

void add_inputs_of_root(const NodeFacts& node, GradientWriter& write, AddedInputs& added, std::uint32_t root) {
  std::vector<Symbol>& rates = added.rates[root];
  for (std::size_t k = 0; k < node.key.rates; ++k)
    rates.push_back(write.new_input(node.text(node.program[node.key.optimizer].inputs[k].name)));
  if (!node.key.step_sum.valid()) return;
  for (const char* const name : step_inputs) added.steps[root].push_back(write.new_input(name));
}

// Adds the inputs after those of the original: a `bp` for each group of outputs, an adjoint for
// each output that has one, the optimiser's arguments for each root of its clocks.
std::vector<Symbol> add_inputs(const NodeFacts& node, GradientWriter& write, AddedInputs& added, Derivative& out) {
  const auto root = [&](std::uint32_t j) { return root_of(node.clocks, clock_of_output(node, j)); };
  for (std::uint32_t j = 0; j < node.node.outputs.size(); ++j) {
    if (node.key.outputs[j] == DerivativeKey::no_adjoint) continue;
    out.adjoints.push_back(j);
    if (std::ranges::find(out.roots, root(j)) == out.roots.end()) out.roots.push_back(root(j));
    const auto bp = std::ranges::find(out.bps, Derivative::Bp{root(j), node.key.outputs[j]});
    out.adjoint_bps.push_back(static_cast<std::uint32_t>(bp - out.bps.begin()));
    if (bp == out.bps.end()) out.bps.push_back({root(j), node.key.outputs[j]});
  }
  if (out.roots.empty()) out.roots.push_back(UINT32_MAX);
  if (out.bps.empty()) out.bps.push_back({UINT32_MAX, 1});
  for (std::uint32_t k = 0; k < out.bps.size(); ++k) {
    const auto first = std::ranges::find(out.adjoint_bps, k);
    const bool is_only = out.bps.size() == out.roots.size() || first == out.adjoint_bps.end();
    const std::uint32_t j = is_only ? 0 : out.adjoints[static_cast<std::size_t>(first - out.adjoint_bps.begin())];
    added.bps.push_back(write.new_input(is_only ? "bp" : "bp_" + node.text(node.node.outputs[j].name)));
  }
  std::vector<Symbol> adjoints;
  for (const std::uint32_t j : out.adjoints)
    adjoints.push_back(write.new_input("d" + node.text(node.node.outputs[j].name)));
  for (const std::uint32_t r : out.roots) add_inputs_of_root(node, write, added, r);
  // Only an input makes another root a part of the interface.
  added.add_root = [&](std::uint32_t r) {
    const auto first = node.clocks.variable_clocks.begin();
    const auto is_of_root = [&](ClockTermId clock) { return root_of(node.clocks, clock) == r; };
    if (std::none_of(first, first + static_cast<std::ptrdiff_t>(node.node.inputs.size()), is_of_root)) return;
    out.roots.push_back(r);
    add_inputs_of_root(node, write, added, r);
  };
  return adjoints;
}

// The given adjoints, each where the `bp` of its group holds.
std::vector<Seed> seeds(Derivation& d, const Derivative& out, const std::vector<Symbol>& adjoints) {
  std::vector<Seed> list;
  for (std::size_t k = 0; k < out.adjoints.size(); ++k) {
    const std::uint32_t j = out.adjoints[k];
    const auto v = static_cast<std::uint32_t>(d.node.node.inputs.size()) + j;
    const ClockTermId clock = clock_of_output(d.node, j);
    d.write.at_equation(d.node.names.variables[v].equation);
    const Symbol bp = d.added.bps[out.adjoint_bps[k]];
    list.push_back({v, d.acts.down_all(bp, d.conditions.down_to(clock)), d.write.name(adjoints[k])});
  }
  return list;
}

// The `bp` that equals the activity `act` of a gradient on the clock, if there is one.
std::optional<std::uint32_t> bp_of(Derivation& d, const Derivative& out, Symbol act, ClockTermId clock) {
  const std::uint32_t root = root_of(d.node.clocks, clock);
  const std::vector<Sampling> samplings = d.conditions.down_to(clock);
  for (std::uint32_t k = 0; k < out.bps.size(); ++k)
    if (out.bps[k].root == root && d.acts.is_down_all(act, d.added.bps[k], samplings)) return k;
  return std::nullopt;
}

// Adds the outputs after those of the original: gradients of inputs, and their activities unless
// a `bp` equals them.
class Outputs {
 public:
  Outputs(Derivation& d, Derivative& out) : d_(d), out_(out) {
    for (const Symbol bp : d.added.bps) origins_.insert(bp);
  }

  void add(const std::vector<Adjoint>& adjoints) {
    for (std::uint32_t i = 0; i < d_.node.node.inputs.size(); ++i)
      if (d_.activity.is_useful(i) && adjoints[i].given()) add(i, adjoints[i]);
  }

 private:
  // An activity that is an output, and the first input whose gradient has it.
  struct Given {
    std::uint32_t input;
    Symbol activity;
    // True if another activity, which has an equal value, samples the gradient.
    bool is_apart = false;
  };

  void add(std::uint32_t i, Adjoint a) {
    d_.write.span = d_.node.node.inputs[i].span;
    Derivative::Extra gradient{Derivative::Extra::gradient, i};
    if (const auto bp = bp_of(d_, out_, a.act, d_.node.clocks.variable_clocks[i])) {
      gradient.bp = *bp;
    } else {
      const auto [known, is_new] = given_.try_emplace(d_.acts.resolved(a.act), Given{i, a.act});
      if (is_new) add_activity(i, known->second);
      gradient.active_with = known->second.input;
      if (known->second.is_apart) a.value = sampled_apart(i, a, known->second.activity);
    }
    d_.write.new_output(a.value, "d" + d_.node.variable_text(i));
    out_.extras.push_back(gradient);
  }

  // Callers know the clock of a gradient by one output. If the interface already has a copy or a
  // sampling of its activity, the clock would refer to that one. So the gradient gets a new
  // activity that is no copy.
  void add_activity(std::uint32_t i, Given& given) {
    if (!origins_.insert(d_.acts.origin(given.activity)).second) {
      const Symbol apart = d_.write.fresh("bp_" + d_.node.variable_text(i));
      d_.write.equation(apart, d_.write.choose(given.activity, d_.write.boolean(true), d_.write.boolean(false)));
      given.activity = apart;
      given.is_apart = true;
    }
    d_.write.new_output(given.activity, "bp_" + d_.node.variable_text(i));
    out_.extras.push_back({Derivative::Extra::activity, i});
  }

  Symbol sampled_apart(std::uint32_t i, const Adjoint& a, Symbol activity) {
    const Symbol s = d_.write.fresh("d" + d_.node.variable_text(i));
    d_.write.equation(s, d_.write.when(d_.write.padded(a.act, d_.write.name(a.value)), activity));
    return s;
  }

  Derivation& d_;
  Derivative& out_;
  std::map<Symbol, Given> given_;  // given adjoints that share an activity, by that activity
  std::set<Symbol> origins_;       // origins of the activities in the interface
};

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
  Outputs(d, out).add(adjoints);
  out.failed = out.failed || d.failed;
  return write.finish();
}

}  // namespace rml
