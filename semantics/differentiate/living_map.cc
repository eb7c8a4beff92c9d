// Writes the call of the map, and the node that it calls for each element.
#include "semantics/differentiate/living_map.h"

#include "semantics/differentiate/instances.h"

namespace rml::derivation {

namespace {

class LivingMap {
 public:
  LivingMap(Derivation& d, ExprId e, const Derivative& derived, const std::vector<Adjoint>& adjoints,
            std::vector<Symbol> bps)
      : d_(d),
        write_(d.write),
        e_(e),
        g_(std::get<NodeRef>(d.node.reference(e)).node),
        of_(d.node.program[g_]),
        sequences_(std::get<ast::Call>(d.node.expr(e)).iteration->sequences),
        arguments_(d.node.checked.names.arguments[e.index]),
        derived_(derived),
        adjoints_(adjoints),
        results_(d.write.results(e)),
        more_(optimizer_arguments(d, e, derived)),
        bps_(std::move(bps)) {}

  void run(const PassOn& pass_on) {
    ChangedCall to{{}, write_each(), {}};
    for (const std::uint32_t j : derived_.adjoints) to.sequences.push_back(adjoint(j));
    for (const Symbol bp : bps_) to.more.push_back(write_.name(bp));
    to.more.insert(to.more.end(), more_.begin(), more_.end());
    to.targets = results_;
    for (Gradient& g : gradients_) {
      g.stacked = write_.fresh("d" + d_.node.text_of(arguments_[g.input], text(of_.inputs[g.input])));
      to.targets.push_back(write_.target(g.stacked));
    }
    write_.change(e_, std::move(to));
    for (const Gradient& g : gradients_) pass_on_gradient(g, pass_on);
  }

 private:
  struct Gradient {
    std::uint32_t input;
    std::optional<std::uint32_t> bp;  // present where this one of `bps` holds; none: at all cycles
    Symbol stacked = {};              // gradients of all elements; zero where they are not active
  };

  const std::string& text(const ast::Parameter& p) const { return d_.node.text(p.name); }

  std::string text_of_node() const { return d_.node.text(of_.name); }

  // The adjoint of result j for all elements, or zero. Its shape comes from a map that yields
  // only result j: the shape of all results depends on all sequences, including this adjoint.
  ExprId adjoint(std::uint32_t j) {
    const Adjoint& a = adjoints_[j];
    const NodeId only = write_only(j);
    const ExprId none = write_.call("zeros", {shape_of_results(only)});
    if (!a.given()) return none;
    const ExprId padded = write_.merge(a.act, write_.name(a.value), write_.when(none, a.act, false));
    return write_.call("sum_to", {padded, shape_of_results(only)});
  }

  // A node that yields only output j of g; it is called to obtain the shape.
  NodeId write_only(std::uint32_t j) {
    Derivatives& derivatives = d_.derivatives;
    NodeWriter only(derivatives.program(), g_, derivatives.fresh_name("only_" + text(of_.outputs[j])));
    only.span = write_.span;
    std::vector<ExprId> arguments;
    std::vector<ast::Target> targets;
    for (const ast::Parameter& p : of_.inputs) arguments.push_back(only.name(only.input(p.name)));
    for (std::uint32_t k = 0; k < of_.outputs.size(); ++k)
      targets.push_back(only.target(k == j ? only.output(of_.outputs[k].name) : Symbol{}));
    only.equation(std::move(targets), only.call_as_itself(g_, arguments));
    return derivatives.add(only.take());
  }

  ExprId shape_of_results(NodeId node) {
    ast::Call call;
    call.callee = {d_.node.program[node].name};
    call.callee_span = write_.span;
    call.target = node;
    call.iteration = std::get<ast::Call>(d_.node.expr(e_)).iteration;
    for (const ExprId a : arguments_) call.arguments.push_back({{}, write_.span, write_.value(a)});
    return write_.shape_of(write_.add(std::move(call)));
  }

  void pass_on_gradient(const Gradient& g, const PassOn& pass_on) {
    ExprId value = write_.name(g.stacked);
    if (g.input >= sequences_) {
      value = write_.call("sum", {value, write_.integer(0)});
      if (g.bp) value = write_.name(write_.symbol_of(value));
    }
    const Symbol act = g.bp ? bps_[*g.bp] : always(g.input);
    pass_on(arguments_[g.input], {act, write_.when(value, act), d_.shapes.of(arguments_[g.input])});
  }

  // Always true, on the clock of an argument.
  Symbol always(std::uint32_t input) {
    return d_.acts.always(d_.node.checked.clocks.expr_clocks[arguments_[input].index]);
  }

  // ---- the node of one element ----

  NodeId write_each() {
    Derivatives& derivatives = d_.derivatives;
    const Span outer = write_.span;
    NodeWriter each(derivatives.program(), g_, derivatives.fresh_name("each_" + text_of_node()));
    std::vector<Symbol> given;
    for (std::size_t i = 0; i < sequences_; ++i) each.input(of_.inputs[i].name);
    for (const std::uint32_t j : derived_.adjoints) given.push_back(each.input(each.fresh("d" + text(of_.outputs[j]))));
    for (std::size_t i = sequences_; i < of_.inputs.size(); ++i) each.input(of_.inputs[i].name);
    std::vector<Symbol> bps, more;
    for (std::size_t k = 0; k < derived_.bps.size(); ++k) bps.push_back(each.input(each.fresh("bp")));
    for (std::size_t k = 0; k < more_.size(); ++k) more.push_back(each.input(each.fresh("rate")));
    std::vector<ExprId> arguments;
    for (const ast::Parameter& p : of_.inputs) arguments.push_back(each.name(p.name));
    for (const Symbol bp : bps) arguments.push_back(each.name(bp));
    for (std::size_t k = 0; k < given.size(); ++k)
      arguments.push_back(each.when(each.name(given[k]), bps[derived_.adjoint_bps[k]]));
    for (const Symbol s : more) arguments.push_back(each.name(s));
    std::vector<ast::Target> targets;
    for (const ast::Parameter& p : of_.outputs) targets.push_back(each.target(each.output(p.name)));
    std::vector<std::pair<Symbol, Symbol>> gradients = name_extras(each, bps, targets);
    each.equation(std::move(targets), each.call_as_itself(derived_.node, arguments));
    for (const auto& [act, part] : gradients)
      each.equation(each.output(each.fresh("grad_" + each.text(part))), each.merge(act, each.name(part), each.zero()));
    write_.span = outer;
    return derivatives.add(each.take());
  }

  // Names the results of the derived node that are used. Returns the gradients with their
  // activities.
  std::vector<std::pair<Symbol, Symbol>> name_extras(NodeWriter& each, const std::vector<Symbol>& bps,
                                                     std::vector<ast::Target>& targets) {
    std::vector<std::pair<Symbol, Symbol>> made;
    std::map<std::uint32_t, Symbol> acts;
    const auto takes = [&](std::uint32_t input) { return d_.activity.takes_adjoint(arguments_[input]); };
    for (std::size_t k = 0; k < derived_.extras.size(); ++k) {
      const Derivative::Extra& extra = derived_.extras[k];
      Symbol s;
      if (derived_.needed(k, takes)) {
        const std::string& input = text(of_.inputs[extra.input]);
        if (extra.kind == Derivative::Extra::activity) {
          s = acts[extra.input] = each.fresh("bp_" + input);
        } else {
          s = each.fresh("part_" + input);
          const auto own = acts.find(extra.active_with);
          const bool has_own = own != acts.end();
          made.emplace_back(has_own ? own->second : bps[extra.bp], s);
          gradients_.push_back({extra.input, has_own ? std::nullopt : std::optional(extra.bp)});
        }
      }
      targets.push_back(each.target(s));
    }
    return made;
  }

  Derivation& d_;
  GradientWriter& write_;
  const ExprId e_;
  const NodeId g_;
  const ast::Node of_;
  const std::size_t sequences_;
  const OrderedArguments arguments_;
  const Derivative& derived_;
  const std::vector<Adjoint>& adjoints_;
  std::vector<ast::Target> results_;
  const std::vector<ExprId> more_;
  const std::vector<Symbol> bps_;  // activities of the derived node, in the caller
  std::vector<Gradient> gradients_;
};

}  // namespace

void pass_on_living_map(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints, const PassOn& pass_on) {
  std::vector<Symbol> acts;
  for (const Adjoint& a : adjoints) acts.push_back(a.act);
  const auto derived = derivative_of_callee(d, e, acts, d.node.key.maps + 1);
  if (!derived) return;
  const std::string& g = d.node.text(d.node.program[std::get<NodeRef>(d.node.reference(e)).node].name);
  LivingMap(d, e, *derived, adjoints, acts_of_bps(d, *derived, acts, "bp_" + g)).run(pass_on);
}

}  // namespace rml::derivation
