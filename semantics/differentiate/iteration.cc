// Writes an iteration in the derived node: the forward iteration, which keeps its states, and the
// backward iteration.
#include "semantics/differentiate/iteration.h"

#include "semantics/differentiate/instances.h"
#include "semantics/differentiate/living_map.h"
#include "semantics/differentiate/rounds.h"

namespace rml::derivation {

namespace {

class DerivedIteration {
 public:
  DerivedIteration(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints)
      : d_(d),
        write_(d.write),
        e_(e),
        g_(std::get<NodeRef>(d.node.reference(e)).node),
        how_(*std::get<ast::Call>(d.node.expr(e)).iteration),
        name_(d.node.text(d.node.program[g_].name)),
        inputs_(d.node.program[g_].inputs),
        arguments_(d.node.checked.names.arguments[e.index]),
        adjoints_(adjoints),
        results_(d.write.results(e)) {}

  void run(const PassOn& pass_on) {
    std::vector<Symbol> acts;
    for (const Adjoint& a : adjoints_)
      if (a.given() && std::ranges::find(acts, a.act) == acts.end()) acts.push_back(a.act);
    if (acts.empty()) return;
    const DerivativeKey key = callee_key();
    const Derivative derived = d_.derivatives.derive(key);
    if (derived.failed) {
      d_.failed = true;
      return;
    }
    act_ = acts.size() == 1 ? acts[0] : d_.acts.any(acts, "bp_" + name_);
    find_flow(derived);
    keep_what_rounds_begin_with(derived);
    if (flow_.empty()) return;
    iterate_backward(derived);
    for (const auto& [input, gradient] : gradients_)
      pass_on(arguments_[input], {act_, write_.name(gradient), gradient_shape(input)});
  }

 private:
  // A state passes its adjoint from round to round even if its gradient is not used. A state is
  // left out if no result with an adjoint depends on it: its adjoint would be 0 in all rounds,
  // and 0 times infinity or NaN is not 0.
  DerivativeKey callee_key() const {
    constexpr std::uint32_t together = 1;  // all adjoints in one group, which is present where any of them is
    std::vector<std::uint32_t> outputs;
    for (const Adjoint& a : adjoints_) outputs.push_back(a.given() ? together : DerivativeKey::no_adjoint);
    DerivativeKey key = derivation::callee_key(d_.node, e_, std::move(outputs));
    const TypedNode& typed = d_.node.checked.types.nodes[g_.index];
    for (bool changed = true; changed;) {
      changed = false;
      const NodeFacts body(d_.derivatives.program(), d_.derivatives.checked(), key);
      const Activity activity(body, [&](NodeId g) { return d_.derivatives.has_parameters(g); });
      for (std::uint32_t j = 0; j < how_.states && j < key.outputs.size(); ++j) {
        if (key.outputs[j] != DerivativeKey::no_adjoint || !activity.is_useful(j)) continue;
        if (!is_float(typed.variable_types[j], key.float_variables)) continue;
        key.outputs[j] = together;
        changed = true;
      }
    }
    return key;
  }

  void find_flow(const Derivative& derived) {
    for (const std::uint32_t j : derived.adjoints) (j < how_.states ? flow_.states : flow_.stacked).push_back(j);
    for (const Derivative::Extra& extra : derived.extras) {
      const bool is_taken = extra.kind == Derivative::Extra::gradient && extra.input >= how_.states &&
                            d_.activity.takes_adjoint(arguments_[extra.input]);
      if (is_taken) (extra.input < leading() ? flow_.sequences : flow_.fixed).push_back(extra.input);
    }
    std::ranges::sort(flow_.sequences);
    std::ranges::sort(flow_.fixed);
  }

  // Makes the forward iteration yield the states before each round, and names the forward values
  // needed below.
  void keep_what_rounds_begin_with(const Derivative& derived) {
    ChangedCall forward{{}, g_, {}};
    if (how_.states > 0) {
      forward.callee = keep_states(d_.derivatives, g_, how_.states);
      forward.kind = ast::Iteration::scan;
    }
    for (std::size_t k = 0; k < how_.states; ++k) old_states_.push_back(write_.fresh("old_" + input_text(k)));
    for (const std::uint32_t j : derived.adjoints)
      if (!results_[j].name.valid() && !adjoints_[j].given())
        results_[j].name = write_.fresh(d_.node.text(d_.node.program[g_].outputs[j].name));
    forward.targets = results_;
    for (const Symbol s : old_states_) forward.targets.push_back(write_.target(s));
    write_.change(e_, std::move(forward));
  }

  void iterate_backward(const Derivative& derived) {
    ast::Call call;
    call.target = write_backward_round(d_.derivatives, g_, how_, derived, flow_);
    call.callee = {d_.node.program[call.target].name};
    call.callee_span = d_.node.program.span(e_);
    ast::Iteration& back = call.iteration.emplace(how_);
    back.reverse = !how_.reverse;
    back.states = static_cast<std::uint32_t>(flow_.states.size() + flow_.fixed.size());
    back.sequences = static_cast<std::uint32_t>(how_.sequences + how_.states + flow_.stacked.size());
    back.kind = back.states > 0 ? ast::Iteration::scan : ast::Iteration::map;
    for (const ExprId a : backward_arguments()) call.arguments.push_back({{}, call.callee_span, a});
    std::vector<ast::Target> results;
    for (const auto* list : {&flow_.states, &flow_.fixed, &flow_.sequences})
      for (const std::uint32_t i : *list) results.push_back(write_.target(name_gradient(i)));
    write_.equation(std::move(results), write_.add(std::move(call)));
  }

  // The arguments of a backward round, in the order of its inputs.
  std::vector<ExprId> backward_arguments() {
    std::vector<ExprId> list;
    for (const std::uint32_t j : flow_.states) list.push_back(adjoint(j));
    for (const std::uint32_t i : flow_.fixed) list.push_back(write_.call("zeros_like", {sampled(i)}));
    for (std::size_t i = how_.states; i < leading(); ++i) list.push_back(sampled(i));
    for (const Symbol s : old_states_) list.push_back(write_.when(write_.name(s), act_));
    for (const std::uint32_t j : flow_.stacked) list.push_back(adjoint(j));
    for (std::size_t i = leading(); i < arguments_.size(); ++i) list.push_back(sampled(i));
    return list;
  }

  ExprId sampled(std::size_t argument) { return write_.sampled(arguments_[argument], act_); }

  // The adjoint of a result, where act_ holds.
  ExprId adjoint(std::uint32_t j) {
    const Adjoint& a = adjoints_[j];
    if (a.given() && a.act == act_) return write_.name(a.value);
    return write_.when(a.given() ? write_.padded(a.act, write_.name(a.value)) : write_.zeros_like(results_[j].name),
                       act_);
  }

  // Invalid if the gradient is not used.
  Symbol name_gradient(std::uint32_t input) {
    if (!d_.activity.takes_adjoint(arguments_[input])) return {};
    gradients_.emplace_back(input, write_.fresh("d" + d_.node.text_of(arguments_[input], input_text(input))));
    return gradients_.back().second;
  }

  // A state may have a larger shape than its initial value.
  ShapeOf gradient_shape(std::uint32_t input) {
    return input < how_.states ? Shapes::beyond(arguments_[input]) : d_.shapes.of(arguments_[input]);
  }

  std::size_t leading() const { return how_.states + how_.sequences; }
  const std::string& input_text(std::size_t i) const { return d_.node.text(inputs_[i].name); }

  Derivation& d_;
  GradientWriter& write_;
  const ExprId e_;
  const NodeId g_;
  const ast::Iteration how_;
  const std::string name_;
  const std::vector<ast::Parameter> inputs_;  // inputs of the iterated node g
  const OrderedArguments arguments_;
  const std::vector<Adjoint>& adjoints_;  // adjoints of the results of the iteration
  std::vector<ast::Target> results_;
  Symbol act_;  // true where any adjoint is present
  RoundFlow flow_;
  std::vector<Symbol> old_states_;                           // names of the states before each round
  std::vector<std::pair<std::uint32_t, Symbol>> gradients_;  // gradient of each input of g that has one
};

}  // namespace

void pass_on_iteration(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints, const PassOn& pass_on) {
  // Instantiation reports a fold or scan of a node that has memory (lives_in_time).
  const bool is_map = std::get<ast::Call>(d.node.expr(e)).iteration->kind == ast::Iteration::map;
  if (is_map && d.derivatives.lives_in_time(std::get<NodeRef>(d.node.reference(e)).node))
    return pass_on_living_map(d, e, adjoints, pass_on);
  DerivedIteration(d, e, adjoints).run(pass_on);
}

}  // namespace rml::derivation
