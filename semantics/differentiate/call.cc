// Expands calls of `diff f`.
//
// The call determines the derivative: an adjoint written as 0.0 counts as absent. Then its
// arguments and results are compared with the interface of `diff f`, and the call is rewritten.
#include "semantics/differentiate/call.h"

#include <map>
#include <optional>
#include <utility>

#include "semantics/check/syntax.h"
#include "semantics/check/write_collectives.h"

namespace rml {

namespace {

// The interface of `diff f`: inputs of f, bp, adjoints; outputs of f, then a gradient for each
// float input.
struct DiffInterface {
  const ast::Node of;                         // a copy, because adding nodes moves those of the program
  std::vector<bool> adjoints;                 // one per output of f: true if it can have an adjoint
  std::vector<std::uint32_t> differentiable;  // inputs of f that can be differentiated

  std::size_t bp() const { return of.inputs.size(); }
  std::size_t results() const { return of.outputs.size() + differentiable.size(); }
};

DiffInterface diff_interface(const Program& program, const Checked& checked, const DerivativeKey& key) {
  DiffInterface made{program[key.node], {}, {}};
  for (const std::uint32_t group : key.outputs) made.adjoints.push_back(group != DerivativeKey::no_adjoint);
  const TypedNode& typed = checked.types.nodes[key.node.index];
  for (std::uint32_t i = 0; i < made.of.inputs.size(); ++i)
    if (is_float(typed.variable_types[i], key.float_variables)) made.differentiable.push_back(i);
  return made;
}

// The interface for messages: `diff f(x, bp, dy) -> (y, dx)`.
std::string interface_text(const Program& program, const DiffInterface& f) {
  std::string text = "diff " + program.text(f.of.name) + "(";
  for (const ast::Parameter& p : f.of.inputs) text += program.text(p.name) + ", ";
  text += "bp";
  for (std::size_t j = 0; j < f.adjoints.size(); ++j)
    if (f.adjoints[j]) text += ", d" + program.text(f.of.outputs[j].name);
  text += ") -> (";
  for (const ast::Parameter& p : f.of.outputs) text += (&p == f.of.outputs.data() ? "" : ", ") + program.text(p.name);
  for (const std::uint32_t i : f.differentiable) text += ", d" + program.text(f.of.inputs[i].name);
  return text + ")";
}

// True if e is 0.0, on any clock.
bool is_zero(const Program& program, ExprId e) {
  while (const auto* sampled = std::get_if<ast::When>(&program[e])) e = sampled->operand;
  const auto* literal = std::get_if<ast::FloatLiteral>(&program[e]);
  return literal != nullptr && literal->value == 0.0;
}

// The adjoints that are written as 0.0: their argument positions, and their outputs of f. Empty
// if the arguments do not fit; then an error is reported later.
struct ZeroAdjoints {
  std::vector<std::size_t> places, outputs;
};
ZeroAdjoints zero_adjoints(const Program& program, const ast::Call& call, const DiffInterface& f) {
  ZeroAdjoints zeros;
  std::size_t next = f.bp() + 1;
  for (std::size_t j = 0; j < f.adjoints.size(); ++j) {
    if (!f.adjoints[j]) continue;
    if (next < call.arguments.size() && is_zero(program, call.arguments[next].value)) {
      zeros.places.push_back(next);
      zeros.outputs.push_back(j);
    }
    ++next;
  }
  return next == call.arguments.size() ? zeros : ZeroAdjoints{};
}

// True if copies of e have the same value and are the same condition.
bool is_pure(const Program& program, const Resolved& names, ExprId e) {
  const ast::Expr& x = program[e];
  if (std::holds_alternative<ast::Fby>(x) || std::holds_alternative<ast::Post>(x) ||
      std::holds_alternative<ast::Merge>(x))
    return false;
  if (std::holds_alternative<ast::Call>(x)) {
    const auto* op = std::get_if<OperatorRef>(&names.references[e.index]);
    if (op == nullptr || operators()[op->op].random) return false;
  }
  bool pure = true;
  for_each_child(x, [&](ExprId part) { pure = pure && is_pure(program, names, part); });
  return pure;
}

// The call of the derived node that replaces a call of `diff f`, and the equations that it needs.
class Replacement {
 public:
  Replacement(Derivatives& derivatives, const DiffCall& at, const DiffInterface& f, const Derivative& derived,
              ast::Call call)
      : program_(derivatives.program()),
        names_(derivatives.checked().names),
        clocks_(derivatives.checked().clocks.nodes[at.of.index]),
        f_(f),
        derived_(derived),
        call_(std::move(call)),
        in_(at.in),
        deal_(program_[at.in].deal() != nullptr ? std::optional(*program_[at.in].deal()) : std::nullopt),
        fresh_(program_, program_[at.in]),
        write_(program_) {
    write_.span = call_.callee_span;
    add_arguments();
    call_.diff.reset();
    call_.target = derived_.node;
  }

  // The targets of the new call. `wanted` has the targets of the old call.
  std::vector<ast::Target> results(const std::vector<ast::Target>& wanted) {
    const auto behind = wanted.begin() + static_cast<std::ptrdiff_t>(f_.of.outputs.size());
    std::vector<ast::Target> left(wanted.begin(), behind);
    for (std::size_t k = 0; k < f_.differentiable.size(); ++k)
      gradients_[f_.differentiable[k]] = behind[static_cast<std::ptrdiff_t>(k)];
    for (std::size_t k = 0; k < derived_.extras.size(); ++k) left.push_back(extra(k, left));
    for (const auto& [input, target] : gradients_)
      if (target.name.valid() && !padded_.contains(input))
        equation(target, write_.call("zeros_like", {write_.copy(call_.arguments[input].value)}));
    return left;
  }

  // Returns the new call. It is complete after results() has been called.
  const ast::Call& call() const { return call_; }
  const std::vector<ast::Equation>& equations() const { return added_; }

 private:
  // Each `bp` of the derived node gets the single `bp` of the call. The optimiser's arguments,
  // once for each root of f's clocks, follow all others. A node that the user wrote takes none:
  // it defines itself how its parameters change.
  void add_arguments() {
    bp_ = repeatable(call_.arguments[f_.bp()].value, "bp");
    for (std::size_t k = 1; k < derived_.bps.size(); ++k) {
      const auto place = call_.arguments.begin() + static_cast<std::ptrdiff_t>(f_.bp() + k);
      call_.arguments.insert(place, {{}, call_.callee_span, write_.copy(bp_)});
    }
    if (derived_.written) return;
    for (std::size_t k = 0; k < derived_.roots.size(); ++k) {
      if (call_.diff)
        for (const ExprId rate : call_.diff->optimizer_arguments)
          call_.arguments.push_back({{}, call_.diff->span, k == 0 ? rate : write_.copy(rate)});
      if (!deal_) continue;
      for (const ExprId e : step_arguments()) call_.arguments.push_back({{}, call_.callee_span, e});
    }
  }

  // The arguments for `step_inputs`. All parameters change together, whatever their node.
  std::vector<ExprId> step_arguments() {
    if (!moves_.valid()) {
      step_at_ = fresh_("step_at");
      const Symbol last = last_of_step();
      moves_ = last.valid() ? last : fresh_("moves");
      ast::Call ends;
      ends.callee = {program_.names.intern("ends")};
      ends.callee_span = call_.callee_span;
      ends.target = step_node(program_, "ends");
      for (const ExprId e : {step_count(program_, *deal_), write_.name(deal_->end), write_.copy(bp_)})
        ends.arguments.push_back({{}, call_.callee_span, e});
      const ExprId call = write_.add(std::move(ends));
      const ast::Target of_moves = write_.target(last.valid() ? Symbol{} : moves_);
      added_.push_back({{write_.target(step_at_), of_moves}, call, write_.span});
    }
    return {step_count(program_, *deal_), write_.name(deal_->end), write_.name(step_at_), write_.name(moves_)};
  }

  // If each micro-batch has a gradient, parameters change at the end of every step. Then the `last`
  // of `total, last = all_sum(e)` in the calling node is used for `moves_`, so that `total` is on
  // the clock of the optimiser and can be its argument: a step divided by its number of tokens.
  Symbol last_of_step() const {
    const auto* literal = std::get_if<ast::BoolLiteral>(&program_[bp_]);
    const auto* name = std::get_if<ast::Name>(&program_[bp_]);
    if ((literal == nullptr || !literal->value) && (name == nullptr || name->symbol != deal_->end)) return {};
    for (const ast::Equation& q : program_[in_].equations) {
      const auto* sum = q.value.valid() ? std::get_if<ast::Call>(&program_[q.value]) : nullptr;
      if (sum == nullptr || sum->callee.size() != 1 || q.targets.size() != 2 || !q.targets[1].name.valid()) continue;
      if (sum->target == step_node(program_, "all_sum") || sum->target == step_node(program_, "all_mean"))
        return q.targets[1].name;
    }
    return {};
  }

  void equation(ast::Target left, ExprId right) { added_.push_back({{std::move(left)}, right, write_.span}); }

  // An expression that may be written more than once: a name, a constant, or a tree of pure
  // operators.
  ExprId repeatable(ExprId& e, const char* base) {
    if (!is_pure(program_, names_, e)) {
      const Symbol name = fresh_(base);
      equation(write_.target(name), e);
      e = write_.name(name);
    }
    return e;
  }

  bool takes(std::uint32_t input) const {
    const auto to = gradients_.find(input);
    return to != gradients_.end() && to->second.name.valid();
  }

  // The target for an additional result of the derived node. A gradient that is used is padded.
  ast::Target extra(std::size_t k, const std::vector<ast::Target>& left) {
    const Derivative::Extra& e = derived_.extras[k];
    if (!derived_.needed(k, [&](std::uint32_t input) { return takes(input); })) return write_.target({});
    const std::string input = program_.text(f_.of.inputs[e.input].name);
    if (e.kind == Derivative::Extra::activity) return write_.target(activities_[e.input] = fresh_("bp_" + input));
    const Symbol sampled = fresh_("d" + input);
    const ExprId value = write_.name(sampled);
    const auto own = activities_.find(e.active_with);
    const ExprId act =
        own != activities_.end() ? write_.name(own->second) : bp_on(clocks_.variable_clocks[e.input], left);
    equation(gradients_[e.input], write_.add(ast::Merge{act, value, write_.zero()}));
    padded_.insert(e.input);
    return write_.target(sampled);
  }

  // `bp` on a clock of f's interface: sampled by the caller's conditions for that clock.
  ExprId bp_on(ClockTermId clock, const std::vector<ast::Target>& left) {
    if (!clock.valid() || clocks_.terms[clock.index].kind != ClockTerm::on) return write_.copy(bp_);
    const ClockTerm& t = clocks_.terms[clock.index];
    const auto v = static_cast<std::size_t>(t.condition.variable);
    const std::size_t inputs = f_.of.inputs.size();
    const ExprId whole = bp_on(t.parent, left);
    const ExprId condition =
        v < inputs ? write_.copy(repeatable(call_.arguments[v].value, "when")) : write_.name(left[v - inputs].name);
    return write_.add(ast::When{whole, t.positive, condition});
  }

  Program& program_;
  const Resolved& names_;
  const ClockedNode& clocks_;  // clocks of the interface of f
  const DiffInterface& f_;
  const Derivative& derived_;
  ast::Call call_;
  const NodeId in_;                      // the calling node
  const std::optional<ast::Deal> deal_;  // its deal
  FreshNames fresh_;
  SyntaxWriter write_;
  ExprId bp_;
  // `step_at_`: the position of a micro-batch in its step. `moves_`: true where parameters
  // change. Both are invalid until used.
  Symbol step_at_, moves_;
  std::vector<ast::Equation> added_;
  std::map<std::uint32_t, ast::Target> gradients_;  // indexed by input of f: the target of its gradient
  std::map<std::uint32_t, Symbol> activities_;      // indexed by input of f: the activity of its gradient
  std::set<std::uint32_t> padded_;                  // inputs whose padded gradients already have their equations
};

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

class Expansion {
 public:
  Expansion(Derivatives& derivatives, const DiffCall& at)
      : derivatives_(derivatives),
        program_(derivatives.program()),
        at_(at),
        call_(std::get<ast::Call>(program_[at.call])),
        key_(derivatives.outermost(at.of)),
        f_(diff_interface(program_, derivatives.checked(), key_)) {
    const std::vector<ast::Equation>& equations = program_[at.in].equations;
    for (std::size_t q = 0; q < equations.size() && !equation_; ++q)
      if (equations[q].value == at.call) equation_ = q;
  }

  // False if the call could not be replaced; then a diagnostic has been reported.
  bool run() {
    if (!take_optimizer()) return false;
    if (!take_deal()) return false;
    const Derivative derived = derive();
    if (derived.failed || !fits(derived)) return false;
    Replacement replacement(derivatives_, at_, f_, derived, call_);
    ast::Node& node = program_.nodes[at_.in.index];
    if (equation_) {  // within an expression, gradients have no use
      std::vector<ast::Target>& targets = node.equations[*equation_].targets;
      targets = replacement.results(targets);
    }
    program_.exprs[at_.call.index] = replacement.call();
    node.equations.insert(node.equations.end(), replacement.equations().begin(), replacement.equations().end());
    return true;
  }

 private:
  Diagnostic& report(Span span, std::string message, std::string label) {
    return derivatives_.diagnostics().report(Code::E0604, span, std::move(message), std::move(label));
  }

  // The arguments that the optimiser takes before act, g and p.
  std::string arguments_wanted(const ast::Node& optimizer) const {
    if (optimizer.inputs.size() < 3 || optimizer.outputs.size() != 1)
      return "it has " + counted(optimizer.inputs.size(), "input") + " and " +
             counted(optimizer.outputs.size(), "output");
    const std::size_t count = optimizer.inputs.size() - 3;
    std::string names;
    for (std::size_t k = 0; k < count; ++k)
      names += (k == 0 ? ": " : ", ") + ("`" + program_.text(optimizer.inputs[k].name) + "`");
    return "it takes " + (count == 0 ? "none" : std::to_string(count) + names);
  }

  // Adds the optimiser of `diff[optimiser(…)] f` to the key.
  bool take_optimizer() {
    if (!call_.diff || call_.diff->optimizer.empty()) return true;
    key_.optimizer = at_.optimizer;
    key_.rates = call_.diff->optimizer_arguments.size();
    const ast::Node& optimizer = program_[at_.optimizer];
    if (optimizer.inputs.size() == key_.rates + 3 && optimizer.outputs.size() == 1) return true;
    const std::string& name = program_.text(optimizer.name);
    report(call_.diff->span, "`" + name + "` cannot be an optimizer with " + counted(key_.rates, "argument"),
           arguments_wanted(optimizer))
        .note("an optimizer is a node `" + name + "(arguments…, act, g, p) -> (step)`: see the manual");
    return false;
  }

  // If rows are dealt, gradients are summed over a step before parameters change.
  bool take_deal() {
    if (program_[at_.in].deal() == nullptr) {
      const ast::Deal* const dealt = program_[at_.of].deal();
      if (dealt == nullptr) return true;
      const std::string &name = program_.text(program_[at_.in].name), &end = program_.text(dealt->end);
      derivatives_.diagnostics()
          .report(Code::E1001, call_.callee_span,
                  "the inputs of `" + program_.text(program_[at_.of].name) + "` are dealt, but not those of `" + name +
                      "`, where it learns",
                  "the end of a step is not known here")
          .label(dealt->span, "dealt here")
          .note("write `dealt " + end + "` after the inputs of `" + name + "` that are passed to it");
      return false;
    }
    key_.step_sum = step_node(program_, "gradient");
    return true;
  }

  // The derivative for the adjoints that are not zero. A derivative that the user wrote takes the
  // zero ones too.
  Derivative derive() {
    const ZeroAdjoints zeros = zero_adjoints(program_, call_, f_);
    for (const std::size_t j : zeros.outputs) key_.outputs[j] = DerivativeKey::no_adjoint;
    const Derivative derived = derivatives_.derive(key_);
    if (!derived.written)
      for (std::size_t k = zeros.places.size(); k-- > 0;)
        call_.arguments.erase(call_.arguments.begin() + static_cast<std::ptrdiff_t>(zeros.places[k]));
    return derived;
  }

  // The inputs that have gradients, and why an input that the user gives as an integer may be
  // among them.
  std::string gradients_text() const {
    std::string floats, open;
    for (const std::uint32_t i : f_.differentiable) {
      const ast::Parameter& input = f_.of.inputs[i];
      const std::string name = "`" + program_.text(input.name) + "`";
      floats += (floats.empty() ? "" : ", ") + name;
      if (!input.type || !input.type->dtype.valid()) open += (open.empty() ? "" : ", ") + name;
    }
    if (floats.empty()) return "it has no float inputs, so it has no gradients";
    return "after its own results it has a gradient for each input that can be a float: " + floats +
           (open.empty()
                ? ""
                : "; if one is an integer, declare its type, such as `: i32`; no type is declared for " + open);
  }

  bool fits(const Derivative& derived) {
    const std::string of = "`diff " + program_.text(f_.of.name) + "`";
    const std::size_t wanted = f_.bp() + 1 + derived.adjoints.size();
    const std::size_t targets = equation_ ? program_[at_.in].equations[*equation_].targets.size() : 1;
    std::string problem;
    if (call_.arguments.size() != wanted)
      problem = of + " takes " + std::to_string(wanted) + " arguments, not " + std::to_string(call_.arguments.size());
    else if (std::ranges::any_of(call_.arguments, [](const ast::Argument& a) { return a.name.valid(); }))
      problem = "arguments of `diff` are passed by position";
    else if (targets != f_.results())
      problem = of + " has " + counted(f_.results(), "result") + ", but " + std::to_string(targets) +
                (targets == 1 ? " is" : " are") + " named";
    if (problem.empty()) return true;
    Diagnostic& d = report(call_.callee_span, problem, "`" + interface_text(program_, f_) + "`");
    if (call_.arguments.size() != wanted)
      d.note("after the arguments of `" + program_.text(f_.of.name) +
             "` come `bp`, which is true at the cycles at which gradients are computed, and for each float result its "
             "adjoint, the derivative of the loss by this result");
    if (targets != f_.results())
      d.note(gradients_text() + (targets < f_.results() ? "; write `_` for a result that is not used" : ""));
    return false;
  }

  Derivatives& derivatives_;
  Program& program_;
  const DiffCall at_;
  ast::Call call_;
  DerivativeKey key_;
  const DiffInterface f_;
  std::optional<std::size_t> equation_;  // the equation, if the call is its whole right-hand side
};

}  // namespace

void expand_call(Derivatives& derivatives, const DiffCall& call) {
  if (!Expansion(derivatives, call).run()) derivatives.program().exprs[call.call.index] = ast::Error{};
}

}  // namespace rml
