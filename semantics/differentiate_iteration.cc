// Gradients through `map`, `fold` and `scan` (see differentiate_derivation.h).
//
// Forward, the states that each round begins with are kept; backward, an iteration in the other direction carries
// the adjoints of the states, and adds up those of what is fixed:
//
//   h, ys = scan f(h0; xs; w);
//
//   h, ys, hs = scan kept_f(h0; xs; w);                  a round of f, and the state before it
//   dh0, dw, dxs = scan[reverse] diff_f(dh, 0; xs, hs, dys; w);
#include "semantics/differentiate_derivation.h"

namespace rml::derivation {

namespace {

// A node that is written equation by equation.
class NodeWriter {
 public:
  NodeWriter(Program& program, NodeId of, const std::string& name)
      : program_(program), fresh_(program, program[of]), write_(program) {
    const ast::Node& original = program[of];
    node_.name = program.names.intern(name);
    node_.name_span = write_.span = original.name_span;
    node_.span = original.span;
    node_.module = original.module;
    node_.derived_from = of;
  }

  SyntaxWriter& write() { return write_; }
  Symbol fresh(const std::string& base) { return fresh_(base); }
  Symbol input(Symbol s) {
    node_.inputs.push_back({s, write_.span, std::nullopt});
    return s;
  }
  Symbol output(Symbol s) {
    node_.outputs.push_back({s, write_.span, std::nullopt});
    return s;
  }
  void equation(std::vector<ast::Target> targets, ExprId value) {
    node_.equations.push_back({std::move(targets), value, write_.span});
  }
  void equation(Symbol left, ExprId right) { equation({write_.target(left)}, right); }
  ExprId call(NodeId node, const std::vector<Symbol>& arguments) {
    ast::Call c;
    c.callee = {program_[node].name};
    c.callee_span = write_.span;
    c.target = node;
    for (const Symbol s : arguments) c.arguments.push_back({{}, write_.span, write_.name(s)});
    return write_.add(std::move(c));
  }
  ast::Node take() { return std::move(node_); }

 private:
  Program& program_;
  FreshNames fresh_;
  SyntaxWriter write_;
  ast::Node node_;
};

}  // namespace

// g, and behind its results the states that it was given.
NodeId NodeDerivation::keeping_states(NodeId g, std::size_t states) {
  const ast::Node of = program_[g];
  NodeWriter node(program_, g, owner_.fresh_name("kept_" + text(of.name)));
  std::vector<Symbol> arguments;
  std::vector<ast::Target> results;
  for (const ast::Parameter& p : of.inputs) arguments.push_back(node.input(p.name));
  for (const ast::Parameter& p : of.outputs) results.push_back(node.write().target(node.output(p.name)));
  node.equation(std::move(results), node.call(g, arguments));
  for (std::size_t k = 0; k < states; ++k)
    node.equation(node.output(node.fresh("old_" + text(of.inputs[k].name))), node.write().name(of.inputs[k].name));
  return owner_.add(node.take());
}

// One round backward. Its states: the adjoints of those of g, then sums for what is fixed; its sequences: those of g,
// g's states before each round, the adjoints of what g stacks. It yields the states, then the gradients of the
// sequences.
NodeId NodeDerivation::round_backward(NodeId g, const ast::Iteration& how, const Derivative& derived,
                                      const IterationFlow& flow) {
  const ast::Node of = program_[g];
  NodeWriter node(program_, g, owner_.fresh_name("back_" + text(of.name)));
  SyntaxWriter& write = node.write();
  const std::size_t leading = how.states + how.sequences;
  const auto d = [&](const ast::Parameter& p) { return node.fresh("d" + text(p.name)); };
  std::map<std::size_t, Symbol> output_adjoints, sums;
  for (const std::uint32_t j : flow.states) output_adjoints[j] = node.input(d(of.outputs[j]));
  for (const std::uint32_t i : flow.fixed) sums[i] = node.input(node.fresh("sum_" + text(of.inputs[i].name)));
  for (std::size_t i = how.states; i < leading; ++i) node.input(of.inputs[i].name);
  for (std::size_t i = 0; i < how.states; ++i) node.input(of.inputs[i].name);
  for (const std::uint32_t j : flow.stacked) output_adjoints[j] = node.input(d(of.outputs[j]));
  for (std::size_t i = leading; i < of.inputs.size(); ++i) node.input(of.inputs[i].name);

  const Symbol bp = node.fresh("bp");
  node.equation(bp, write.boolean(true));
  std::vector<Symbol> arguments;
  std::vector<ast::Target> targets;
  for (const ast::Parameter& p : of.inputs) arguments.push_back(p.name);
  for (std::size_t k = 0; k < derived.roots.size(); ++k) arguments.push_back(bp);
  for (const ast::Parameter& p : of.outputs) targets.push_back(write.target(p.name));
  for (const std::uint32_t j : derived.adjoints) {
    const auto known = output_adjoints.find(j);
    if (known != output_adjoints.end()) {
      arguments.push_back(known->second);
      continue;
    }
    arguments.push_back(d(of.outputs[j]));
    node.equation(arguments.back(), write.call("zeros_like", {write.name(of.outputs[j].name)}));
  }
  const auto takes = [&](std::uint32_t input) {
    if (input < how.states) return std::ranges::find(flow.states, input) != flow.states.end();
    const auto& list = input < leading ? flow.sequences : flow.fixed;
    return std::ranges::find(list, input) != list.end();
  };
  std::map<std::uint32_t, Symbol> activities, gradients;
  std::map<std::uint32_t, std::uint32_t> active_with;
  for (std::size_t k = 0; k < derived.extras.size(); ++k) {
    const Derivative::Extra& extra = derived.extras[k];
    if (!derived.needed(k, takes)) {
      targets.push_back(write.target({}));
      continue;
    }
    const bool gradient = extra.kind == Derivative::Extra::gradient;
    const Symbol s = node.fresh((gradient ? "part_" : "bp_") + text(of.inputs[extra.input].name));
    (gradient ? gradients : activities)[extra.input] = s;
    if (gradient) active_with[extra.input] = extra.active_with;
    targets.push_back(write.target(s));
  }
  node.equation(std::move(targets), node.call(derived.node, arguments));
  const auto gradient = [&](std::uint32_t input) {
    const auto known = gradients.find(input);
    if (known == gradients.end()) return write.call("zeros_like", {write.name(of.inputs[input].name)});
    const auto own = activities.find(active_with[input]);
    return write.merge(own == activities.end() ? bp : own->second, write.name(known->second), write.zero());
  };
  for (const std::uint32_t i : flow.states)
    node.equation(node.output(node.fresh("new_d" + text(of.inputs[i].name))), gradient(i));
  for (const std::uint32_t i : flow.fixed)
    node.equation(node.output(node.fresh("new_sum_" + text(of.inputs[i].name))),
                  write.binary(BinaryOp::add, write.name(sums.at(i)), gradient(i)));
  for (const std::uint32_t i : flow.sequences) node.equation(node.output(d(of.inputs[i])), gradient(i));
  return owner_.add(node.take());
}

void NodeDerivation::iterated_call(ExprId e, const std::vector<Adjoint>& adjoints) {
  const NodeId g = std::get<NodeRef>(reference(e)).node;
  const ast::Iteration how = *std::get<ast::Call>(program_[e]).iteration;
  const auto& q = node_.equations[equation_];
  std::vector<ast::Target> targets = q.targets;
  if (q.value != e) targets = {{named(e), write_.span, std::nullopt}};
  const std::string name = text(program_[g].name);
  const std::vector<ast::Parameter> inputs = program_[g].inputs;
  const std::size_t leading = how.states + how.sequences;

  DerivativeKey key{g, {}, {}, {}, 0};
  for (const TypeTerm term : checked_.types.instantiations[e.index])
    key.float_variables.push_back(is_float(typed_, term, key_.float_variables));
  std::vector<Symbol> acts;
  for (std::size_t j = 0; j < adjoints.size(); ++j) {
    const TypedNode& typed = checked_.types.nodes[g.index];
    const bool state = j < how.states && is_float(typed, typed.variable_types[j], key.float_variables);
    key.outputs.push_back(adjoints[j].given() || state);
    if (adjoints[j].given() && std::ranges::find(acts, adjoints[j].act) == acts.end()) acts.push_back(adjoints[j].act);
  }
  if (acts.empty()) return;
  const Derivative derived = owner_.derive(key);
  if (derived.failed) {
    out_.failed = true;
    return;
  }
  const Symbol act = acts.size() == 1 ? acts[0] : act_any(acts, "bp_" + name);

  const OrderedArguments arguments = checked_.names.arguments[e.index];
  IterationFlow flow;
  for (const std::uint32_t j : derived.adjoints) (j < how.states ? flow.states : flow.stacked).push_back(j);
  for (const Derivative::Extra& extra : derived.extras)
    if (extra.kind == Derivative::Extra::gradient && extra.input >= how.states && flows_to(arguments[extra.input]))
      (extra.input < leading ? flow.sequences : flow.fixed).push_back(extra.input);
  std::ranges::sort(flow.sequences);
  std::ranges::sort(flow.fixed);

  // Forward.
  std::vector<Symbol> old_states;
  NodeId forward = g;
  if (how.states > 0) {
    forward = keeping_states(g, how.states);
    for (std::size_t k = 0; k < how.states; ++k) {
      old_states.push_back(fresh("old_" + text(inputs[k].name)));
      targets.push_back(write_.target(old_states.back()));
    }
  }
  for (std::size_t j = 0; j < adjoints.size(); ++j)
    if (!targets[j].name.valid() && key.outputs[j] && !adjoints[j].given())
      targets[j].name = fresh(text(program_[g].outputs[j].name));
  const Span span = program_.span(e);
  special_[e] = [this, e, span, arguments, targets, forward, how] {
    ast::Call call = identified(e);
    write_.span = span;
    call.target = forward;
    call.callee = {program_[forward].name};
    if (how.states > 0) call.iteration->kind = ast::Iteration::scan;
    call.arguments.clear();
    for (const ExprId a : arguments) call.arguments.push_back({{}, span, copy(a)});
    return ast::Equation{targets, program_.add(std::move(call), span), span};
  };

  // Backward.
  if (flow.states.empty() && flow.fixed.empty() && flow.sequences.empty()) return;
  const auto adjoint = [&](std::uint32_t j) {
    if (adjoints[j].given() && adjoints[j].act == act) return write_.name(adjoints[j].value);
    const ExprId d = adjoints[j].given() ? padded(adjoints[j].act, write_.name(adjoints[j].value))
                                         : write_.call("zeros_like", {write_.name(targets[j].name)});
    return write_.when(d, act);
  };
  ast::Call call;
  call.target = round_backward(g, how, derived, flow);
  call.callee = {program_[call.target].name};
  call.callee_span = span;
  ast::Iteration& back = call.iteration.emplace(how);
  back.reverse = !how.reverse;
  back.states = static_cast<std::uint32_t>(flow.states.size() + flow.fixed.size());
  back.sequences = static_cast<std::uint32_t>(how.sequences + how.states + flow.stacked.size());
  back.kind = back.states > 0 ? ast::Iteration::scan : ast::Iteration::map;
  const auto give = [&](ExprId a) { call.arguments.push_back({{}, span, a}); };
  for (const std::uint32_t j : flow.states) give(adjoint(j));
  for (const std::uint32_t i : flow.fixed) give(write_.call("zeros_like", {sampled(arguments[i], act)}));
  for (std::size_t i = how.states; i < leading; ++i) give(sampled(arguments[i], act));
  for (const Symbol s : old_states) give(write_.when(write_.name(s), act));
  for (const std::uint32_t j : flow.stacked) give(adjoint(j));
  for (std::size_t i = leading; i < arguments.size(); ++i) give(sampled(arguments[i], act));
  std::vector<ast::Target> left;
  std::vector<std::pair<std::uint32_t, Symbol>> gradients;
  for (const auto* list : {&flow.states, &flow.fixed, &flow.sequences})
    for (const std::uint32_t i : *list) {
      const bool wanted = flows_to(arguments[i]);
      const Symbol s = wanted ? fresh("d" + argument_text(arguments[i], text(inputs[i].name))) : Symbol{};
      left.push_back(write_.target(s));
      if (wanted) gradients.emplace_back(i, s);
    }
  backward_.push_back({std::move(left), write_.add(std::move(call)), write_.span});
  for (const auto& [i, s] : gradients) {
    // A state may be larger than what it begins with.
    const ShapeOf shape =
        i < how.states ? ShapeOf{std::uint64_t{2} << 32 | arguments[i].index} : shape_of(arguments[i]);
    push(arguments[i], {act, write_.name(s), shape});
  }
}

}  // namespace rml::derivation
