// Writes the rounds of iterations as nodes.
//
//   node back_f(dh, sum_w, x, h, w) -> (new_dh, new_sum_w, dx2)
//     bp = true;
//     n, part_h, part_x, part_w = diff_f(h, x, w, bp, dh);
//     new_dh = merge bp part_h 0.0;  new_sum_w = sum_w + merge bp part_w 0.0;  dx2 = merge bp part_x 0.0;
#include "semantics/differentiate/rounds.h"

#include <map>

#include "semantics/check/syntax.h"

namespace rml::derivation {

NodeId keep_states(Derivatives& derivatives, NodeId g, std::size_t states) {
  Program& program = derivatives.program();
  const ast::Node of = program[g];
  NodeWriter write(program, g, derivatives.fresh_name("kept_" + program.text(of.name)));
  std::vector<ExprId> arguments;
  std::vector<ast::Target> results;
  for (const ast::Parameter& p : of.inputs) arguments.push_back(write.name(write.input(p.name)));
  for (const ast::Parameter& p : of.outputs) results.push_back(write.target(write.output(p.name)));
  write.equation(std::move(results), write.call_node(g, arguments));
  for (std::size_t k = 0; k < states; ++k)
    write.equation(write.output(write.fresh("old_" + program.text(of.inputs[k].name))), write.name(of.inputs[k].name));
  return derivatives.add(write.take());
}

namespace {

class BackwardRound {
 public:
  BackwardRound(Derivatives& derivatives, NodeId g, const ast::Iteration& how, const Derivative& derived,
                const RoundFlow& flow)
      : program_(derivatives.program()),
        of_(program_[g]),
        leading_(how.states + how.sequences),
        states_(how.states),
        derived_(derived),
        flow_(flow),
        write_(program_, g, derivatives.fresh_name("back_" + program_.text(of_.name))) {}

  ast::Node write() {
    add_inputs();
    bp_ = write_.fresh("bp");
    write_.equation(bp_, write_.boolean(true));
    call_derivative();
    add_outputs();
    return write_.take();
  }

 private:
  const std::string& text(const ast::Parameter& p) const { return program_.text(p.name); }
  Symbol fresh_adjoint(const ast::Parameter& p) { return write_.fresh("d" + text(p)); }

  void add_inputs() {
    for (const std::uint32_t j : flow_.states) adjoints_[j] = write_.input(fresh_adjoint(of_.outputs[j]));
    for (const std::uint32_t i : flow_.fixed) sums_[i] = write_.input(write_.fresh("sum_" + text(of_.inputs[i])));
    for (std::size_t i = states_; i < leading_; ++i) write_.input(of_.inputs[i].name);
    for (std::size_t i = 0; i < states_; ++i) write_.input(of_.inputs[i].name);
    for (const std::uint32_t j : flow_.stacked) adjoints_[j] = write_.input(fresh_adjoint(of_.outputs[j]));
    for (std::size_t i = leading_; i < of_.inputs.size(); ++i) write_.input(of_.inputs[i].name);
  }

  void call_derivative() {
    std::vector<Symbol> arguments;
    std::vector<ast::Target> targets;
    for (const ast::Parameter& p : of_.inputs) arguments.push_back(p.name);
    arguments.insert(arguments.end(), derived_.bps.size(), bp_);
    for (const std::uint32_t j : derived_.adjoints) arguments.push_back(adjoint_of_output(j));
    for (const ast::Parameter& p : of_.outputs) targets.push_back(write_.target(p.name));
    for (std::size_t k = 0; k < derived_.extras.size(); ++k) targets.push_back(write_.target(name_extra(k)));
    std::vector<ExprId> names;
    for (const Symbol s : arguments) names.push_back(write_.name(s));
    write_.equation(std::move(targets), write_.call_node(derived_.node, names));
  }

  // The given adjoint, or zero.
  Symbol adjoint_of_output(std::uint32_t j) {
    if (const auto given = adjoints_.find(j); given != adjoints_.end()) return given->second;
    const Symbol zero = fresh_adjoint(of_.outputs[j]);
    write_.equation(zero, write_.call("zeros_like", {write_.name(of_.outputs[j].name)}));
    return zero;
  }

  // The name of an additional result of the derivative; invalid if it is not used.
  Symbol name_extra(std::size_t k) {
    const Derivative::Extra& extra = derived_.extras[k];
    if (!derived_.needed(k, [&](std::uint32_t input) { return takes_gradient(input); })) return {};
    if (extra.kind == Derivative::Extra::activity)
      return acts_[extra.input] = write_.fresh("bp_" + text(of_.inputs[extra.input]));
    active_with_[extra.input] = extra.active_with;
    return gradients_[extra.input] = write_.fresh("part_" + text(of_.inputs[extra.input]));
  }

  bool takes_gradient(std::uint32_t input) const {
    const auto& list = input < states_ ? flow_.states : input < leading_ ? flow_.sequences : flow_.fixed;
    return std::ranges::find(list, input) != list.end();
  }

  void add_outputs() {
    for (const std::uint32_t i : flow_.states) add_output("new_d", i, gradient(i));
    for (const std::uint32_t i : flow_.fixed)
      add_output("new_sum_", i, write_.binary(BinaryOp::add, write_.name(sums_.at(i)), gradient(i)));
    for (const std::uint32_t i : flow_.sequences) add_output("d", i, gradient(i));
  }

  void add_output(const std::string& prefix, std::uint32_t input, ExprId value) {
    write_.equation(write_.output(write_.fresh(prefix + text(of_.inputs[input]))), value);
  }

  // The gradient with respect to an input, padded with zero where it is not active.
  ExprId gradient(std::uint32_t input) {
    const auto known = gradients_.find(input);
    if (known == gradients_.end()) return write_.call("zeros_like", {write_.name(of_.inputs[input].name)});
    const auto act = acts_.find(active_with_[input]);
    return write_.merge(act == acts_.end() ? bp_ : act->second, write_.name(known->second), write_.zero());
  }

  Program& program_;
  const ast::Node of_;
  // leading_: number of inputs that are states or sequences. states_: number of states.
  const std::size_t leading_, states_;
  const Derivative& derived_;
  const RoundFlow& flow_;
  NodeWriter write_;
  Symbol bp_;
  std::map<std::uint32_t, Symbol> adjoints_;  // adjoints of the outputs of g, by output
  // Sums, activities and gradients of the inputs of g, by input.
  std::map<std::uint32_t, Symbol> sums_, acts_, gradients_;
  std::map<std::uint32_t, std::uint32_t> active_with_;
};

}  // namespace

NodeId write_backward_round(Derivatives& derivatives, NodeId g, const ast::Iteration& how, const Derivative& derived,
                            const RoundFlow& flow) {
  return derivatives.add(BackwardRound(derivatives, g, how, derived, flow).write());
}

}  // namespace rml::derivation
