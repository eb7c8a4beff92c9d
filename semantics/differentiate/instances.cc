// Instances in the derived node.
//
//   y = g(x);      y, bp_x, dx = diff_g(x, bp, dy);     dx is passed on to x, where bp_x holds
//
// The adjoints of the results are brought to the cycles at which the derived node expects them:
// where its `bp` holds, sampled like the clocks of its interface.
#include "semantics/differentiate/instances.h"

#include <utility>

namespace rml::derivation {

DerivativeKey callee_key(const NodeFacts& node, ExprId e, std::vector<std::uint32_t> outputs) {
  DerivativeKey key{std::get<NodeRef>(node.reference(e)).node, {}, std::move(outputs), {}, 0};
  for (const TypeTerm term : node.checked.types.instantiations[e.index])
    key.float_variables.push_back(is_float(term, node.key.float_variables));
  return key;
}

namespace {

// A gradient of a parameter, present where `act` holds.
struct Moving {
  Symbol act, value;
};

// The gradient summed over the micro-batches of a step.
Moving of_step(Derivation& d, Symbol p, const Moving& each, const std::vector<Symbol>& steps) {
  GradientWriter& write = d.write;
  const Moving total{steps.back(), write.fresh("total_d" + d.node.text(p))};
  std::vector<ExprId> arguments;
  for (const Symbol s : steps) arguments.push_back(write.name(s));
  for (const Symbol s : {each.act, each.value, p}) arguments.push_back(write.name(s));
  write.equation(total.value, write.call_node(d.node.key.step_sum, arguments));
  return total;
}

// The sum of the gradients of all map elements that share p, present where any of them is.
Moving of_all_elements(Derivation& d, Symbol p, const Moving& each) {
  GradientWriter& write = d.write;
  const auto over = [&](ExprId x) {
    return write.call("sum_over_sharers", {x, write.name(p), write.integer(d.node.key.maps)});
  };
  const Moving all{write.fresh("bp_all_" + d.node.text(p)), write.fresh("all_d" + d.node.text(p))};
  write.equation(all.act, over(write.name(each.act)));
  write.equation(all.value, write.when(over(write.padded(each.act, write.name(each.value))), all.act));
  return all;
}

// Refused because the ends of micro-batches may fall between the cycles of a sampled clock.
void refuse_clock(Derivation& d, ExprId e) {
  d.derivatives.diagnostics()
      .report(Code::E1001, d.node.program.span(e),
              "this gradient cannot be summed over micro-batches: it is not present at every cycle of `" +
                  d.node.text(d.node.node.name) + "`",
              "present at some of its cycles only")
      .note(
          "a micro-batch can end at a cycle where this is absent; define the parameter at every cycle and sample "
          "it: `k = param(…);  … (k when c) …`");
  d.failed = true;
}

}  // namespace

void move_parameter(Derivation& d, ExprId e, const Flow& flow) {
  GradientWriter& write = d.write;
  const ast::Target target = write.results(e)[0];
  const Symbol p = write.named(e);
  Moving gradient{flow.act, write.symbol_of(flow.adjoint)};
  const DerivativeKey& key = d.node.key;
  if (key.maps > 0) gradient = of_all_elements(d, p, gradient);
  Symbol step = gradient.value;
  if (key.optimizer.valid() || key.step_sum.valid()) {
    const ClockTermId clock = d.node.checked.clocks.expr_clocks[e.index];
    const std::vector<Sampling> samplings = d.conditions.down_to(clock);
    const std::uint32_t root = root_of(d.node.clocks, clock);
    if (key.step_sum.valid()) {
      if (!samplings.empty()) refuse_clock(d, e);
      step = (gradient = of_step(d, p, gradient, of_root(d.added.steps, root))).value;
    }
    if (key.optimizer.valid()) {
      step = write.fresh("step_" + d.node.text(p));
      std::vector<ExprId> arguments;
      for (const Symbol rate : of_root(d.added.rates, root))
        arguments.push_back(sampled_by(write, write.name(rate), samplings));
      arguments.push_back(write.name(gradient.act));
      arguments.push_back(write.name(gradient.value));
      arguments.push_back(write.when(write.name(p), gradient.act));
      write.equation(step, write.call_node(key.optimizer, arguments));
    }
  }
  write.change(e, MovedParameter{target, gradient.act, step});
}

std::vector<ExprId> optimizer_arguments(Derivation& d, ExprId e, const Derivative& derived) {
  std::vector<ExprId> list;
  const DerivativeKey& key = d.node.key;
  if (derived.written || (key.rates == 0 && !key.step_sum.valid())) return list;
  const auto& clocks = d.node.checked.clocks.instantiations[e.index];
  const bool adds = key.step_sum.valid() && d.derivatives.has_parameters(std::get<NodeRef>(d.node.reference(e)).node);
  for (const std::uint32_t root : derived.roots) {
    const ClockTermId clock = root < clocks.size() ? clocks[root] : ClockTermId{};
    if (adds && !d.conditions.down_to(clock).empty()) refuse_clock(d, e);
    const std::uint32_t own = root_of(d.node.clocks, clock);
    // The instance is never active on a root without an adjoint, but its inputs must be present there.
    if (!d.added.rates.contains(own)) d.added.add_root(own);
    for (const Symbol rate : of_root(d.added.rates, own))
      list.push_back(sampled_by(d.write, d.write.name(rate), d.conditions.down_to(clock)));
    if (!key.step_sum.valid()) continue;
    for (const Symbol s : of_root(d.added.steps, own)) list.push_back(d.write.name(s));
  }
  return list;
}

namespace {

// An instance of g, and the instance of its derivative that replaces it.
class Instance {
 public:
  Instance(Derivation& d, ExprId e, std::vector<ast::Target> results)
      : d_(d),
        write_(d.write),
        e_(e),
        g_(std::get<NodeRef>(d.node.reference(e)).node),
        interface_(d.node.checked.clocks.nodes[g_.index]),
        arguments_(d.node.checked.names.arguments[e.index]),
        results_(std::move(results)) {}

  // False if g has no derivative for these adjoints of its results.
  bool derive(const std::vector<Adjoint>& adjoints) {
    std::vector<Symbol> acts;
    for (std::size_t j = 0; j < adjoints.size(); ++j)
      acts.push_back(adjoints[j].given() ? lifted(adjoints[j].act, samplings(clock_of_result(j))) : Symbol{});
    const auto derived = derivative_of_callee(d_, e_, acts, d_.node.key.maps);
    if (!derived) return false;
    derived_ = *derived;
    acts_ = acts_of_bps(d_, derived_, acts, "bp_" + name());
    return true;
  }

  void write(const std::vector<Adjoint>& adjoints) {
    const std::vector<Symbol> given = given_adjoints(adjoints);
    add_gradients();
    const std::vector<ExprId> rates = optimizer_arguments(d_, e_, derived_);
    std::vector<ExprId> more;
    const Span outer = std::exchange(write_.span, d_.node.program.span(e_));
    for (const Symbol bp : acts_) more.push_back(write_.name(bp));
    for (const Symbol adjoint : given) more.push_back(write_.name(adjoint));
    write_.span = outer;
    more.insert(more.end(), rates.begin(), rates.end());
    std::vector<ast::Target> targets = results_;
    targets.insert(targets.end(), extras_.begin(), extras_.end());
    write_.change(e_, ChangedCall{std::move(targets), derived_.node, std::move(more)});
  }

  void pass_on_gradients(const PassOn& pass_on) {
    for (const auto& [input, gradient] : gradients_) {
      const auto own = input_acts_.find(gradient.active_with);
      const Symbol act =
          own != input_acts_.end() ? own->second : act_on(gradient.bp, interface_.variable_clocks[input]);
      pass_on(arguments_[input], {act, write_.name(gradient.value), gradient_shape(arguments_[input])});
    }
  }

 private:
  struct Gradient {
    Symbol value;
    std::uint32_t active_with, bp;  // indices of extra results; see Derivative::Extra
  };

  std::string name() const { return d_.node.text(d_.node.program[g_].name); }
  ClockTermId clock_of_result(std::size_t j) const {
    return interface_.variable_clocks[d_.node.program[g_].inputs.size() + j];
  }

  // `act` on the clock of the root.
  Symbol lifted(Symbol act, const std::vector<Sampling>& list) {
    for (std::size_t k = list.size(); k-- > 0;) {
      const Symbol above = d_.acts.above(act, list[k]);
      act = above.valid() ? above : d_.acts.up(act, list[k]);
    }
    return act;
  }

  // The conditions between the root of g's clocks and a clock of its interface, in the caller's
  // names.
  std::vector<Sampling> samplings(ClockTermId clock) {
    const std::size_t inputs = d_.node.program[g_].inputs.size();
    std::vector<Sampling> list;
    for (const ClockTerm* t : samplings_of(interface_, clock)) {
      const auto v = static_cast<std::size_t>(t->condition.variable);
      const Symbol given = v < inputs ? d_.conditions.named(arguments_[v]) : results_[v - inputs].name;
      list.push_back({d_.conditions.brought_down(given, interface_, v, list), t->positive});
    }
    return list;
  }

  // The activity of one of the derived node's `bps`, on a clock of g's interface.
  Symbol act_on(std::uint32_t bp, ClockTermId clock) { return d_.acts.down_all(acts_[bp], samplings(clock)); }

  // The adjoints of g's results as arguments of the derived node.
  std::vector<Symbol> given_adjoints(const std::vector<Adjoint>& adjoints) {
    std::vector<Symbol> given;
    for (std::size_t k = 0; k < derived_.adjoints.size(); ++k) {
      const std::uint32_t j = derived_.adjoints[k];
      const Symbol act = act_on(derived_.adjoint_bps[k], clock_of_result(j));
      if (adjoints[j].given() && adjoints[j].act == act) {
        given.push_back(adjoints[j].value);
        continue;
      }
      ast::Target& result = results_[j];
      if (!result.name.valid()) result.name = write_.fresh(d_.node.text(d_.node.program[g_].outputs[j].name));
      const ExprId adjoint = adjoints[j].given() ? write_.padded(adjoints[j].act, write_.name(adjoints[j].value))
                                                 : write_.zeros_like(result.name);
      given.push_back(write_.fresh("d" + name()));
      write_.equation(given.back(), write_.when(adjoint, act));
    }
    return given;
  }

  // Names the additional results of the derived node that are used.
  void add_gradients() {
    const auto takes = [&](std::uint32_t input) { return d_.activity.takes_adjoint(arguments_[input]); };
    for (std::size_t k = 0; k < derived_.extras.size(); ++k) {
      const Derivative::Extra& extra = derived_.extras[k];
      Symbol s;
      if (derived_.needed(k, takes)) {
        const std::string input = d_.node.text(d_.node.program[g_].inputs[extra.input].name);
        if (extra.kind == Derivative::Extra::activity) {
          s = input_acts_[extra.input] = write_.fresh("bp_" + input);
        } else {
          s = write_.fresh("d" + d_.node.text_of(arguments_[extra.input], input));
          gradients_[extra.input] = {s, extra.active_with, extra.bp};
        }
      }
      extras_.push_back(write_.target(s));
    }
  }

  // A generated gradient has the shape of the argument, as do the gradients of the prelude. A
  // gradient that the user wrote may have the shape to which the argument is broadcast.
  ShapeOf gradient_shape(ExprId argument) {
    constexpr ModuleId prelude{1};
    const bool has_argument_shape = !derived_.written || d_.node.program[g_].module == prelude;
    return has_argument_shape ? d_.shapes.of(argument) : Shapes::beyond(argument);
  }

  Derivation& d_;
  GradientWriter& write_;
  const ExprId e_;
  const NodeId g_;
  const ClockedNode& interface_;
  Derivative derived_;
  const OrderedArguments arguments_;
  std::vector<ast::Target> results_;  // the targets that receive the results of g
  std::vector<Symbol> acts_;          // activities in the order of `bps` of the derived node
  std::vector<ast::Target> extras_;   // targets of the derived node's other results
  std::map<std::uint32_t, Symbol> input_acts_;
  std::map<std::uint32_t, Gradient> gradients_;
};

}  // namespace

std::optional<Derivative> derivative_of_callee(Derivation& d, ExprId e, const std::vector<Symbol>& acts,
                                               std::uint32_t maps) {
  std::vector<std::uint32_t> outputs;
  std::vector<Symbol> groups;
  for (const Symbol act : acts) {
    if (!act.valid()) {
      outputs.push_back(DerivativeKey::no_adjoint);
      continue;
    }
    const auto group = std::ranges::find(groups, act);
    outputs.push_back(static_cast<std::uint32_t>(group - groups.begin()) + 1);
    if (group == groups.end()) groups.push_back(act);
  }
  if (groups.empty()) return std::nullopt;
  DerivativeKey key = callee_key(d.node, e, std::move(outputs));
  key.optimizer = d.node.key.optimizer;
  key.rates = d.node.key.rates;
  key.step_sum = d.node.key.step_sum;
  key.maps = maps;
  Derivative derived = d.derivatives.derive(key);
  if (!derived.failed) return derived;
  d.failed = true;
  return std::nullopt;
}

std::vector<Symbol> acts_of_bps(Derivation& d, const Derivative& derived, const std::vector<Symbol>& acts,
                                const std::string& hint) {
  std::vector<std::vector<Symbol>> found(derived.bps.size());
  for (std::size_t k = 0; k < derived.adjoints.size(); ++k) {
    std::vector<Symbol>& list = found[derived.adjoint_bps[k]];
    const Symbol act = acts[derived.adjoints[k]];
    if (act.valid() && std::ranges::find(list, act) == list.end()) list.push_back(act);
  }
  std::vector<Symbol> of_bps;
  for (const std::vector<Symbol>& list : found) {
    if (list.empty()) {  // a written node may have a `bp` for adjoints that are not given here
      of_bps.push_back(d.write.fresh("never"));
      d.write.equation(of_bps.back(), d.acts.any_of({}));
    } else {
      of_bps.push_back(list.size() == 1 ? list[0] : d.acts.any(list, hint));
    }
  }
  return of_bps;
}

void pass_on_instance(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints, const PassOn& pass_on) {
  Instance instance(d, e, d.write.results(e));
  if (!instance.derive(adjoints)) return;
  instance.write(adjoints);
  instance.pass_on_gradients(pass_on);
}

}  // namespace rml::derivation
