// Elaboration of expressions (see instantiate_elaborate.h): one draft per expression.
//
// Literals take the dtype that inference gave them in this instance, so a literal that does
// not fit it is found here; a minus sign belongs to the literal it stands before. An `if`
// is the merge of its sampled branches. Random draws get their key here, from the path of
// the instance and the number of the draw in it.
//
//   if c then a else b    merge c (when c a) (when not c b)
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "semantics/instantiate_elaborate.h"

namespace rml::draft {

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

const char* operator_name(BinaryOp op) {
  constexpr std::array<const char*, 13> names = {"logical_or", "logical_and", "eq",  "ne",  "lt",  "le", "gt",
                                                 "ge",         "add",         "sub", "mul", "div", "mod"};
  return names[static_cast<std::size_t>(op)];
}

std::shared_ptr<const Tensor> shared(Tensor t) { return std::make_shared<const Tensor>(std::move(t)); }

Tensor integer_scalar(DType dtype, std::int64_t v) {
  Tensor t(dtype, {});
  std::memcpy(t.data(), &v, t.bytes());  // little-endian, two's complement
  return t;
}

struct IntegerRange {
  std::uint64_t below_zero, above_zero;
};
IntegerRange integer_range(DType dtype) {
  if (!is_signed(dtype)) return {0, UINT64_MAX >> (64 - 8 * byte_size(dtype))};
  const std::uint64_t half = std::uint64_t{1} << (8 * byte_size(dtype) - 1);
  return {half, half - 1};
}

}  // namespace

Attribute default_attribute(std::string_view text, ParameterKind kind) {
  Attribute a;
  if (text == "all") return a;
  a.given = true;
  if (kind == ParameterKind::text) {
    a.text = text;
  } else if (kind == ParameterKind::dtype) {
    a.dtype = dtype_named(text).value_or(DType::f32);
  } else if (kind == ParameterKind::number) {
    std::from_chars(text.data(), text.data() + text.size(), a.number);
  } else {
    a.scalar = text.empty() || text[0] != '[';
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::int64_t extent = 0;
      const auto parsed = std::from_chars(text.data() + i, text.data() + text.size(), extent);
      if (parsed.ec != std::errc{}) continue;
      a.integers.push_back(extent);
      i = static_cast<std::size_t>(parsed.ptr - text.data());
    }
  }
  return a;
}

DraftId Elaborator::value(ExprId e) {
  if (!e.valid()) return missing(e);
  if (const auto met = scope_.values.find(e.index); met != scope_.values.end()) return met->second;
  const DraftId v = build(e);
  scope_.values[e.index] = v;
  return v;
}

// All results of an equation's right-hand side.
std::vector<DraftId> Elaborator::values(ExprId e, std::size_t count) {
  std::vector<DraftId> results;
  const auto* c = e.valid() ? std::get_if<ast::Call>(&program()[e]) : nullptr;
  if (c != nullptr && !scope_.values.contains(e.index)) {
    results = call(e, *c);
    if (!results.empty()) scope_.values[e.index] = results[0];
  } else {
    results = {value(e)};
  }
  while (results.size() < count) results.push_back(missing(e));
  return results;
}

DraftId Elaborator::build(ExprId e) {
  const auto at = [&](Rhs rhs) { return add(std::move(rhs), dtype_of(e), clock_of(e), program().span(e)); };
  return std::visit(Overloaded{
                        [&](const ast::Name&) { return reference(e); },
                        [&](const ast::BoolLiteral& l) { return boolean(e, l.value); },
                        [&](const ast::IntLiteral& l) { return integer(e, l.value, false); },
                        [&](const ast::FloatLiteral& l) { return floating(e, l.value); },
                        [&](const ast::TextLiteral&) { return missing(e); },
                        [&](const ast::Unary& u) { return unary(e, u); },
                        [&](const ast::Binary& b) { return binary(e, b); },
                        [&](const ast::If& i) { return conditional(e, i); },
                        [&](const ast::Fby& f) {
                          const DraftId init = value(f.init);
                          return at(Fby{init, value(f.next)});
                        },
                        [&](const ast::Post& p) { return at(Post{value(p.operand)}); },
                        [&](const ast::When& w) {
                          const DraftId operand = value(w.operand);
                          return at(When{operand, value(w.condition), w.positive});
                        },
                        [&](const ast::Merge& m) {
                          const DraftId condition = value(m.condition), on_true = value(m.on_true);
                          return at(Merge{condition, on_true, value(m.on_false), false});
                        },
                        [&](const ast::Array& a) { return array(e, a); },
                        [&](const ast::Index& i) { return subscript(e, i); },
                        [&](const ast::Call& c) {
                          const std::vector<DraftId> results = call(e, c);
                          return results.empty() ? missing(e) : results[0];
                        },
                        [&](const ast::Error&) { return missing(e); },
                    },
                    program()[e]);
}

DraftId Elaborator::reference(ExprId e) {
  if (e.index >= checked_.names.references.size()) return missing(e);
  return std::visit(Overloaded{
                        [&](std::monostate) { return missing(e); },
                        [&](VariableRef r) { return scope_.variables[r.variable]; },
                        [&](ConstRef r) { return constant_item(r.constant, clock_of(e), dtype_of(e)); },
                        [&](DTypeRef) { return missing(e); },
                        [&](NodeRef) { return missing(e); },
                        [&](OperatorRef) { return missing(e); },
                        [&](ParamRef) { return missing(e); },
                        [&](StopGradientRef) { return missing(e); },
                        [&](LoadRef) { return missing(e); },
                    },
                    checked_.names.references[e.index]);
}

// A constant has one draft per dtype and clock it is used at.
DraftId Elaborator::constant_item(ConstId id, DraftClockId clock, DType dtype) {
  const std::uint64_t key =
      std::uint64_t{id.index} << 40 | std::uint64_t{static_cast<std::uint8_t>(dtype)} << 32 | clock.index;
  if (const auto met = constants_.find(key); met != constants_.end()) return met->second;
  const ast::Const& item = program().consts[id.index];
  Scope inner;
  inner.instance = scope_.instance;
  inner.dtypes = {dtype};
  inner.constant_clock = clock;
  inner.untyped_dtype = dtype;
  const auto replaced = overrides_.find(id.index);
  inner.untyped = replaced != overrides_.end();
  std::swap(inner, scope_);
  DraftId v = value(replaced != overrides_.end() ? replaced->second : item.value);
  scope_.untyped = false;
  if (item.type) {
    Declared declared{v, {}, item.type->span};
    for (ExprId extent : item.type->shape) declared.shape.push_back(static_value(extent));
    v = add(std::move(declared), dtype, clock, item.name_span);
  }
  std::swap(inner, scope_);
  constants_[key] = v;
  return v;
}

DraftId Elaborator::boolean(ExprId e, bool v) {
  if (scope_.untyped && scope_.untyped_dtype != DType::boolean)
    report(Code::E0902, program().span(e),
           "a Boolean for a constant of type " + std::string(rml::name(scope_.untyped_dtype)));
  return add(Const{shared(Tensor::boolean(v))}, DType::boolean, clock_of(e), program().span(e));
}

DraftId Elaborator::integer(ExprId e, std::uint64_t magnitude, bool negative) {
  const DType dtype = dtype_of(e);
  if (is_float(dtype)) {
    const auto v = static_cast<double>(magnitude);
    return floating(e, negative ? -v : v);
  }
  if (!is_integer(dtype)) {
    if (scope_.untyped) report(Code::E0902, program().span(e), "a number for a constant of type bool");
    return missing(e);
  }
  const IntegerRange range = integer_range(dtype);
  if (magnitude > (negative ? range.below_zero : range.above_zero)) {
    const std::string written = (negative ? "-" : "") + std::to_string(magnitude);
    const std::string type(rml::name(dtype));
    report(Code::E0307, program().span(e), "`" + written + "` does not fit " + type,
           type + " holds " + (range.below_zero > 0 ? "-" + std::to_string(range.below_zero) : std::string("0")) +
               " to " + std::to_string(range.above_zero));
  }
  const std::uint64_t bits = negative ? std::uint64_t{0} - magnitude : magnitude;
  return add(Const{shared(integer_scalar(dtype, static_cast<std::int64_t>(bits)))}, dtype, clock_of(e),
             program().span(e));
}

DraftId Elaborator::floating(ExprId e, double v) {
  const DType dtype = dtype_of(e);
  if (!is_float(dtype)) {
    if (scope_.untyped)
      report(Code::E0902, program().span(e), "a float for a constant of type " + std::string(rml::name(dtype)));
    return missing(e);
  }
  if (std::isinf(rounded(dtype, v)) && !std::isinf(v))
    report(Code::E0307, program().span(e), "this number does not fit " + std::string(rml::name(dtype)),
           "it would be infinite");
  return add(Const{shared(Tensor::number(dtype, v))}, dtype, clock_of(e), program().span(e));
}

DraftId Elaborator::unary(ExprId e, const ast::Unary& u) {
  if (u.op == UnaryOp::negate) {
    if (const auto* l = std::get_if<ast::IntLiteral>(&program()[u.operand])) {
      // -0 is +0 as an integer and -0.0 as a float, either way what negation gives.
      return integer(e, l->value, true);
    }
    if (const auto* l = std::get_if<ast::FloatLiteral>(&program()[u.operand])) return floating(e, -l->value);
  }
  return operation(e, operators().require(u.op == UnaryOp::negate ? "negate" : "logical_not"), {u.operand});
}

DraftId Elaborator::binary(ExprId e, const ast::Binary& b) {
  return operation(e, operators().require(operator_name(b.op)), {b.left, b.right});
}

DraftId Elaborator::array(ExprId e, const ast::Array& a) {
  if (a.elements.empty())
    return add(Const{shared(Tensor(dtype_of(e), {0}))}, dtype_of(e), clock_of(e), program().span(e));
  return operation(e, operators().require("array"), a.elements);
}

DraftId Elaborator::sample(ExprId of, bool positive, DraftId condition, DraftClockId sampled) {
  const DraftId operand = value(of);
  return add(When{operand, condition, positive, true}, draft_[operand].dtype, sampled, program().span(of));
}

DraftId Elaborator::conditional(ExprId e, const ast::If& i) {
  const DraftId condition = value(i.condition);
  const DraftClockId ck = clock_of(e);
  const DraftId on_true = sample(i.then_branch, true, condition, on(ck, condition, true));
  const DraftId on_false = sample(i.else_branch, false, condition, on(ck, condition, false));
  return add(Merge{condition, on_true, on_false, true}, dtype_of(e), ck, program().span(e));
}

DraftId Elaborator::subscript(ExprId e, const ast::Index& i) {
  Index index{value(i.operand), {}};
  const auto optional = [&](ExprId bound) { return bound.valid() ? value(bound) : DraftId{}; };
  for (const ast::IndexItem& item : i.items)
    index.items.push_back({item.is_range, optional(item.at), optional(item.lower), optional(item.upper), item.span});
  return add(std::move(index), dtype_of(e), clock_of(e), program().span(e));
}

// `arguments` are in the order of the row's parameters, a variadic one expanded in place.
DraftId Elaborator::operation(ExprId e, OperatorId op, const std::vector<ExprId>& arguments) {
  const OperatorInfo& row = operators()[op];
  Apply apply{op, {}, {}, 0};
  std::size_t next = 0;
  const std::size_t repeated = arguments.size() + 1 - std::min(row.parameters.size(), arguments.size() + 1);
  for (const OperatorParameter& parameter : row.parameters) {
    for (std::size_t k = parameter.variadic ? repeated : 1; k > 0; --k, ++next) {
      const ExprId argument = next < arguments.size() ? arguments[next] : ExprId{};
      if (parameter.kind == ParameterKind::operand) {
        apply.operands.push_back(argument.valid() ? value(argument) : missing(e));
      } else {
        apply.attributes.push_back(attribute(parameter, argument));
      }
    }
  }
  if (row.random) {
    const std::string path = scope_.instance.valid() ? draft_.instances[scope_.instance.index].path : "";
    apply.key = path_key(path + "/" + identity(e));
  }
  return add(std::move(apply), dtype_of(e), clock_of(e), program().span(e));
}

StaticArgument Elaborator::attribute(const OperatorParameter& parameter, ExprId argument) {
  StaticArgument a;
  a.kind = parameter.kind;
  if (!argument.valid()) {
    a.known = default_attribute(parameter.default_value, parameter.kind);
  } else if (parameter.kind == ParameterKind::dtype) {
    a.known.given = true;
    if (const auto* named = std::get_if<DTypeRef>(&checked_.names.references[argument.index]))
      a.known.dtype = named->dtype;
  } else if (parameter.kind == ParameterKind::text) {
    a.known.given = true;
    if (const auto* text = std::get_if<ast::TextLiteral>(&program()[argument])) a.known.text = text->value;
  } else {
    a.value = static_value(argument);
  }
  return a;
}

// An expression in a static position. `[]` is the shape of a scalar.
DraftId Elaborator::static_value(ExprId e) {
  const auto* a = e.valid() ? std::get_if<ast::Array>(&program()[e]) : nullptr;
  if (a == nullptr || !a->elements.empty()) {
    const auto outer = std::exchange(static_in_, std::optional(scope_.instance));
    const DraftId v = value(e);
    static_in_ = outer;
    return v;
  }
  return add(Const{shared(Tensor(DType::i64, {0}))}, DType::i64, base, program().span(e));
}

std::vector<DraftId> Elaborator::call(ExprId e, const ast::Call& c) {
  if (e.index >= checked_.names.references.size()) return {missing(e)};
  const OrderedArguments& arguments = checked_.names.arguments[e.index];
  const auto first = [&] { return arguments.empty() ? missing(e) : value(arguments[0]); };
  return std::visit(
      Overloaded{
          [&](std::monostate) { return std::vector{missing(e)}; },
          [&](VariableRef) { return std::vector{missing(e)}; },
          [&](ConstRef) { return std::vector{missing(e)}; },
          [&](DTypeRef) { return std::vector{missing(e)}; },
          [&](NodeRef r) { return c.iteration ? iterate_node(e, c, r.node) : instantiate_node(e, c, r.node); },
          [&](OperatorRef r) { return std::vector{operation(e, r.op, arguments)}; },
          [&](ParamRef) { return std::vector{parameter(e, first(), arguments)}; },
          [&](StopGradientRef) { return std::vector{stopped(e, first())}; },
          [&](LoadRef r) { return std::vector{loaded(e, r)}; },
      },
      checked_.names.references[e.index]);
}

DraftId Elaborator::loaded(ExprId e, LoadRef load) {
  const auto& tensors = checked_.names.tensors;
  if (load.tensor >= tensors.size()) return missing(e);
  return add(Const{tensors[load.tensor]}, dtype_of(e), clock_of(e), program().span(e));
}

// param(e) is e as it was at the first cycle, known by the instance path and the variable of
// its equation: a random initialiser is drawn once. param(e, act, step) begins so, and is
// moved by step where act holds:
//
//   p = fby e %1    %1 = merge act %2 (p when not act)    %2 = add (p when act) step
DraftId Elaborator::parameter(ExprId e, DraftId v, const OrderedArguments& arguments) {
  const DraftId held = add(Fby{v, v}, dtype_of(e), clock_of(e), program().span(e));
  // Apart: the draft grows meanwhile, and not every compiler evaluates the right-hand side first.
  const DraftId next = arguments.size() == 3 && arguments[1].valid() ? moved(e, held, arguments) : held;
  std::get<Fby>(draft_[held].rhs).next = next;
  draft_.parameters.push_back({qualified(identity(e)), held, clock_of(e), program().span(e)});
  return held;
}

DraftId Elaborator::moved(ExprId e, DraftId held, const OrderedArguments& arguments) {
  const DType dtype = dtype_of(e);
  const DraftClockId ck = clock_of(e);
  const Span span = program().span(arguments[2]);
  const DraftId act = value(arguments[1]);
  const DraftId step = value(arguments[2]);
  const auto sampled = [&](bool positive) {
    return add(When{held, act, positive}, dtype, on(ck, act, positive), span);
  };
  const DraftId stays = sampled(false);
  const DraftId changed =
      add(Apply{operators().require("add"), {sampled(true), step}, {}, 0}, dtype, on(ck, act, true), span);
  return add(Merge{act, changed, stays, false}, dtype, ck, span);
}

// stop_gradient(e) is e; a value of its own where it is to be told apart.
DraftId Elaborator::stopped(ExprId e, DraftId v) {
  const DType dtype = dtype_of(e);
  if (!options_.keep_stops || !is_float(dtype)) return v;
  StaticArgument to;
  to.kind = ParameterKind::dtype;
  to.known.given = true;
  to.known.dtype = dtype;
  v = add(Apply{operators().require("cast"), {v}, {to}, 0}, dtype, clock_of(e), program().span(e));
  draft_.parameters.push_back({"", v, clock_of(e), program().span(e)});
  return v;
}

// What stands for an expression that was found wrong before.
DraftId Elaborator::missing(ExprId e) {
  const DType dtype = e.valid() ? dtype_of(e) : DType::f32;
  return add(Const{shared(Tensor(dtype, {}))}, dtype, base, e.valid() ? program().span(e) : Span{});
}

}  // namespace rml::draft
