// Substitutes the arguments of an application into the derivative rule (rules.h).
//
//   o = w * i,  the rule of the first operand `dy * b`:      dw = do * (i when bp)
#include "semantics/differentiate/operators.h"

#include <charconv>

#include "semantics/differentiate/rules.h"

namespace rml::derivation {

namespace {

// One application of an operator, and the operand whose adjoint is computed.
struct Application {
  ExprId self;
  OperatorId op;
  const OperatorInfo* row;
  std::vector<ExprId> arguments;  // in the row's order, a variadic one expanded
  Operand operand;
  std::size_t part = 0;  // index within a variadic operand
};

std::size_t mentions(const Program& of, ExprId e, const char* name) {
  if (const auto* n = std::get_if<ast::Name>(&of[e])) return of.text(n->symbol) == name ? 1 : 0;
  std::size_t count = 0;
  for_each_child(of[e], [&](ExprId part) { count += mentions(of, part, name); });
  return count;
}

// The expression of a rule for an application: replaces the rule's names by the application's
// values.
class Substitution {
 public:
  // `is_named` says that the adjoint in the flow is a name, so that it may be written several
  // times.
  Substitution(GradientWriter& write, const Program& rule, const Application& at, const Flow& flow, bool is_named)
      : write_(write), rule_(rule), at_(at), flow_(flow), is_named_(is_named) {}

  // Returns invalid for an attribute that was left out. In a static position only shapes matter,
  // so values are not sampled.
  ExprId expression(ExprId e, bool is_static_place) {
    if (const auto* name = std::get_if<ast::Name>(&rule_[e])) return meaning(rule_.text(name->symbol), is_static_place);
    if (const auto* c = std::get_if<ast::Call>(&rule_[e])) return call(*c, is_static_place);
    return write_.add(map_children(rule_[e], [&](ExprId part) { return expression(part, is_static_place); }));
  }

 private:
  // The parameter of a rule with a given name, and the range of its arguments.
  struct Arguments {
    const OperatorParameter* parameter = nullptr;
    std::size_t first = 0, count = 0;
  };
  std::optional<Arguments> arguments(const std::string& name) const {
    std::size_t first = 0;
    const std::size_t repeated = at_.arguments.size() + 1 - at_.row->parameters.size();
    for (const OperatorParameter& p : at_.row->parameters) {
      const std::size_t count = p.variadic ? repeated : 1;
      if (p.name == name) return Arguments{&p, first, count};
      first += count;
    }
    return std::nullopt;
  }

  ExprId plain(ExprId argument, bool is_static_place) {
    return is_static_place ? write_.value(argument) : write_.sampled(argument, flow_.act);
  }

  // An adjoint that is used more than once has a name (pass_on_operand), so only names are
  // copied. Otherwise a chain of applications would be copied at each of its links.
  ExprId adjoint() { return is_named_ ? write_.copy(flow_.adjoint) : flow_.adjoint; }

  ExprId meaning(const std::string& word, bool is_static_place) {
    if (word == "dy") return adjoint();
    if (word == "y") return plain(at_.self, is_static_place);
    if (word == "part") return write_.integer(at_.part);
    const auto found = arguments(word);
    if (!found) return write_.name(write_.symbol(word));
    if (found->parameter->variadic) return plain(at_.operand.value, is_static_place);
    const ExprId argument = at_.arguments[found->first];
    if (found->parameter->kind == ParameterKind::operand) return plain(argument, is_static_place);
    return argument.valid() ? write_.copy(argument) : default_of(*found->parameter);
  }

  ExprId call(const ast::Call& c, bool is_static_place) {
    const std::string& callee = rule_.text(c.callee[0]);
    const bool inner = is_static_place || callee == "shape" || callee == "part_starts";
    ast::Call made;
    made.callee = {write_.symbol(callee)};
    made.callee_span = write_.span;
    made.builtin = true;
    for (const ast::Argument& argument : c.arguments) {
      const auto* word = std::get_if<ast::Name>(&rule_[argument.value]);
      if (word != nullptr && rule_.text(word->symbol).ends_with("__all")) {
        const std::string& all = rule_.text(word->symbol);
        const auto found = arguments(all.substr(0, all.size() - 5));
        for (std::size_t k = 0; k < found->count; ++k)
          made.arguments.push_back({{}, write_.span, plain(at_.arguments[found->first + k], inner)});
      } else if (word == nullptr || !is_left_out(rule_.text(word->symbol))) {
        const Symbol name = argument.name.valid() ? write_.symbol(rule_.text(argument.name)) : Symbol{};
        made.arguments.push_back({name, write_.span, expression(argument.value, inner)});
      }
    }
    return write_.add(std::move(made));
  }

  // An attribute whose value cannot be written: the call leaves it out as well.
  bool is_left_out(const std::string& word) {
    const auto found = arguments(word);
    return found && found->parameter->kind != ParameterKind::operand && !at_.arguments[found->first].valid() &&
           !default_of(*found->parameter).valid();
  }

  // Invalid for defaults such as every axis, or a list, which remain left out.
  ExprId default_of(const OperatorParameter& p) {
    std::int64_t value = 0;
    const char* end = p.default_value.data() + p.default_value.size();
    if (std::from_chars(p.default_value.data(), end, value).ptr != end || p.default_value.empty()) return {};
    if (value >= 0) return write_.integer(static_cast<std::uint64_t>(value));
    return write_.add(ast::Unary{UnaryOp::negate, write_.integer(static_cast<std::uint64_t>(-value))});
  }

  GradientWriter& write_;
  const Program& rule_;
  const Application& at_;
  const Flow& flow_;
  const bool is_named_;
};

void refuse_operand(Derivation& d, const Application& at, const std::string& because) {
  // For an operator that only rules write, the reason names the operator that the user wrote.
  refuse(d, at.self, because.starts_with('`') ? because : "`" + std::string(at.row->name) + "`: " + because)
      .label(d.node.program.span(at.operand.value), "depends on a parameter or an input")
      .note("if no gradient is meant to flow, write `stop_gradient(…)` around it");
}

void pass_on_operand(Derivation& d, const Application& at, Flow flow, const PassOn& pass_on) {
  const DerivativeRule& rule = derivative_rule(at.op, at.operand.place);
  const bool is_elementwise = at.row->lowering == Lowering::elementwise;
  if (!d.node.is_float_expr(at.operand.value)) {
    // Integers and Booleans have no adjoint. If they are computed from floats, that is an error.
    if (is_elementwise && at.row->scalar == ScalarOp::cast && at.operand.place == 0)
      refuse_operand(d, at, "it converts a value that is not a float");
    return;
  }
  if (!rule.adjoint.valid()) {
    if (at.row->lowering != Lowering::folded && rule.because.find("only its") == std::string::npos)
      refuse_operand(d, at, rule.because);
    return;
  }
  // A rule that mentions dy more than once needs a name for it.
  if (mentions(*rule.program, rule.adjoint, "dy") > 1) flow.adjoint = d.write.name_of(flow.adjoint);
  const bool is_named = d.node.is_name(flow.adjoint);
  const ExprId adjoint = Substitution(d.write, *rule.program, at, flow, is_named).expression(rule.adjoint, false);
  pass_on(at.operand.value, {flow.act, adjoint, is_elementwise ? flow.shape : d.shapes.of(at.operand.value)});
}

}  // namespace

void pass_on_application(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on) {
  const auto* op = std::get_if<OperatorRef>(&d.node.reference(e));
  if (op == nullptr) return;
  const bool is_elementwise = d.node.is_elementwise(e);
  if (!is_elementwise) flow = reduced(d, std::move(flow), e);
  const std::vector<Operand> operands = d.node.operands(e);
  const auto taken =
      std::ranges::count_if(operands, [&](const Operand& o) { return d.activity.takes_adjoint(o.value); });
  if (taken > 1 || !is_elementwise) flow.adjoint = d.write.name_of(flow.adjoint);
  Application at{e, op->op, d.node.row(e), d.node.arguments(e), {}};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    at.part = k > 0 && operands[k].place == operands[k - 1].place ? at.part + 1 : 0;
    at.operand = operands[k];
    if (d.activity.is_varied(at.operand.value)) pass_on_operand(d, at, flow, pass_on);
  }
}

// ---- subscripts ----

namespace {

// x[i, 2, a:b:c]: the plain indices before the first range are applied first, then the others
// with the ranges.
class Subscript {
 public:
  Subscript(Derivation& d, const ast::Index& index) : d_(d), write_(d.write), index_(index) {
    while (leading_ < index.items.size() && !index.items[leading_].is_range) ++leading_;
  }

  // True if an index after a range is not constant; the operator then has no derivative.
  bool is_refused() const {
    return std::any_of(index_.items.begin() + static_cast<std::ptrdiff_t>(leading_), index_.items.end(),
                       [&](const ast::IndexItem& item) { return !item.is_range && !d_.node.is_static(item.at); });
  }

  // The adjoint of the operand: zero except at the elements that the subscript reads.
  ExprId placed(ExprId adjoint, Symbol act) {
    const ExprId whole = write_.value(index_.operand);
    std::vector<ExprId> indices;
    for (std::size_t k = 0; k < leading_; ++k) indices.push_back(write_.sampled(index_.items[k].at, act));
    if (leading_ < index_.items.size()) adjoint = placed_slice(adjoint, whole);
    if (leading_ == 0) return adjoint;
    std::vector<ExprId> arguments{write_.shape_of(write_.copy(whole)), adjoint};
    arguments.insert(arguments.end(), indices.begin(), indices.end());
    return write_.call("place", arguments);
  }

 private:
  // The adjoint of a slice that is taken after the leading indices.
  ExprId placed_slice(ExprId adjoint, ExprId whole) {
    ExprId part = write_.copy(whole);
    if (leading_ > 0) {
      ast::Index inner{part, {}};
      for (std::size_t k = 0; k < leading_; ++k)
        inner.items.push_back({false, write_.value(index_.items[k].at), {}, {}, {}, write_.span});
      part = write_.add(std::move(inner));
    }
    std::vector<ExprId> starts, stops, steps;
    ast::Index unit{write_.copy(part), {}};  // the slice with all of its axes
    bool drops_axes = false, is_contiguous = true;
    for (std::size_t k = leading_; k < index_.items.size(); ++k) {
      const Bounds at = bounds(index_.items[k], part, k - leading_);
      starts.push_back(at.start);
      stops.push_back(at.stop);
      steps.push_back(at.step.valid() ? at.step : write_.integer(1));
      drops_axes = drops_axes || !index_.items[k].is_range;
      is_contiguous = is_contiguous && !at.step.valid();
      const ExprId step = at.step.valid() ? write_.copy(at.step) : ExprId{};
      unit.items.push_back({true, {}, write_.copy(at.start), write_.copy(at.stop), step, write_.span});
    }
    if (drops_axes) adjoint = write_.call("reshape", {write_.shape_of(write_.add(std::move(unit))), adjoint});
    std::vector<ExprId> arguments{write_.shape_of(part), adjoint, write_.add(ast::Array{starts}),
                                  write_.add(ast::Array{stops})};
    if (!is_contiguous) arguments.push_back(write_.add(ast::Array{steps}));
    return write_.call("place_slice", arguments);
  }

  // The range of an axis that an item reads, as arguments of place_slice. No step means 1.
  struct Bounds {
    ExprId start, stop, step;
  };
  Bounds bounds(const ast::IndexItem& item, ExprId part, std::size_t axis) {
    if (!item.is_range) return single(item.at, part, axis);
    Bounds b;
    if (item.lower.valid()) b.start = write_.copy(item.lower);
    if (item.upper.valid()) b.stop = write_.copy(item.upper);
    if (item.step.valid()) b.step = write_.copy(item.step);
    if (!b.start.valid()) b.start = by_sign(item.step, [&] { return write_.integer(0); }, [&] { return minus(1); });
    if (b.stop.valid()) return b;
    // For a backward step, the position before the first element is -extent - 1.
    b.stop = by_sign(
        item.step, [&] { return extent(part, axis); },
        [&] { return write_.binary(BinaryOp::sub, minus(1), extent(part, axis)); });
    return b;
  }

  // One element: starts there, with a stop at the end and a step that reaches it. A literal from
  // the start stops just after the element.
  Bounds single(ExprId at, ExprId part, std::size_t axis) {
    if (std::holds_alternative<ast::IntLiteral>(d_.node.expr(at)))
      return {write_.copy(at), write_.binary(BinaryOp::add, write_.copy(at), write_.integer(1)), {}};
    return {write_.copy(at), extent(part, axis), extent(part, axis)};
  }

  // Selects the forward or the backward bound. If the step is no literal, it is selected at run
  // time.
  template <class Forward, class Backward>
  ExprId by_sign(ExprId step, const Forward& forward, const Backward& backward) {
    if (!step.valid() || std::holds_alternative<ast::IntLiteral>(d_.node.expr(step))) return forward();
    const auto* negated = std::get_if<ast::Unary>(&d_.node.expr(step));
    if (negated != nullptr && std::holds_alternative<ast::IntLiteral>(d_.node.expr(negated->operand)))
      return backward();
    const ExprId is_forward = write_.binary(BinaryOp::gt, write_.copy(step), write_.integer(0));
    return write_.add(ast::If{is_forward, forward(), backward()});
  }

  ExprId minus(std::uint64_t n) { return write_.add(ast::Unary{UnaryOp::negate, write_.integer(n)}); }

  ExprId extent(ExprId part, std::size_t axis) {
    return write_.add(
        ast::Index{write_.shape_of(write_.copy(part)), {{false, write_.integer(axis), {}, {}, {}, write_.span}}});
  }

  Derivation& d_;
  GradientWriter& write_;
  const ast::Index index_;
  std::size_t leading_ = 0;
};

}  // namespace

void pass_on_subscript(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on) {
  const ast::Index index = std::get<ast::Index>(d.node.expr(e));
  flow = reduced(d, std::move(flow), e);
  Subscript subscript(d, index);
  if (subscript.is_refused()) {
    refuse(d, e, "an index that is not constant, after a range")
        .note("bring the axis to the front with `transpose`, and index first");
    return;
  }
  const ExprId adjoint = subscript.placed(flow.adjoint, flow.act);
  pass_on(index.operand, {flow.act, adjoint, d.shapes.of(index.operand)});
}

}  // namespace rml::derivation
