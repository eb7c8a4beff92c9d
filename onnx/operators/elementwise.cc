// Imports arithmetic, comparisons, logic and functions of single elements. Most map to one
// operator of the language.
#include <algorithm>

#include "onnx/call.h"

namespace rml::onnx {

namespace {

// Returns the operator of the language whose ONNX counterpart is `op`.
std::string_view counterpart(std::string_view op) {
  for (OperatorId id = 0; id < operators().size(); ++id)
    if (operators()[id].onnx == op) return operators()[id].name;
  throw ModelError{"", "operator " + std::string(op) + " has no counterpart"};
}

std::vector<Term> same(Call& c) { return {c.apply(counterpart(c.node.op), c.all_inputs())}; }

// Before version 7, the second operand is broadcast only if the attribute `broadcast` is set,
// starting at `axis`.
std::vector<Term> two(Call& c) {
  Term a = c.in(0), other = c.in(1);
  if (c.version < 7 && c.integer("broadcast", 0) != 0 && c.has("axis")) {
    const std::int64_t axis = normalized(c.integer("axis", 0), a.rank());
    Shape shape = other.shape;
    while (static_cast<std::int64_t>(shape.size()) < a.rank() - axis) shape.push_back(1);
    other = c.apply("reshape", {other}, {{"shape", shape}});
  }
  if (c.version < 7 && c.integer("broadcast", 0) == 0 && a.shape != other.shape)
    throw ModelError{
        "", "shapes " + to_string(a.shape) + " and " + to_string(other.shape) + " differ, and it does not broadcast"};
  return {c.apply(counterpart(c.node.op), {a, other})};
}

std::vector<Term> power(Call& c) {
  const Term a = c.in(0);
  Term exponent = c.in(1);
  if (exponent.dtype == a.dtype) return c.version < 7 ? two(c) : same(c);
  // The operands have different dtypes: computes in the wider one and casts the result to that of
  // the base.
  if (is_float(a.dtype)) return {c.apply("pow", {a, c.apply("cast", {exponent}, {{"dtype", a.dtype}})})};
  const DType wide = is_float(exponent.dtype) ? DType::f64 : DType::i64;
  const Term y =
      c.apply("pow", {c.apply("cast", {a}, {{"dtype", wide}}), c.apply("cast", {exponent}, {{"dtype", wide}})});
  return {c.apply("cast", {y}, {{"dtype", a.dtype}})};
}

std::vector<Term> modulo(Call& c) { return {c.apply(c.integer("fmod", 0) != 0 ? "mod" : "floor_mod", c.all_inputs())}; }

std::vector<Term> shift(Call& c) {
  const std::string direction = c.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    throw ModelError{"", "the direction '" + direction + "' is not LEFT or RIGHT"};
  return {c.apply(direction == "LEFT" ? "left_shift" : "right_shift", c.all_inputs())};
}

// Imports an operator with any number of operands as a chain of operators with two.
std::vector<Term> chain(Call& c) {
  const std::string_view op = c.node.op == "Max" ? "maximum" : c.node.op == "Min" ? "minimum" : "add";
  Term all = c.in(0);
  constexpr std::size_t most = 50;  // limit on the operands of one expression
  for (std::size_t k = 1; k < c.inputs(); ++k) {
    all = c.apply(op, {all, c.in(k)});
    if (k % most == 0) all = c.b.shared(all);
  }
  if (c.node.op == "Mean") all = c.apply("div", {all, c.b.scalar(all.dtype, static_cast<double>(c.inputs()))});
  return {all};
}

std::vector<Term> clip(Call& c) {
  Term x = c.in(0);
  const auto bound = [&](const char* attribute, std::size_t input) -> std::optional<Term> {
    if (c.version >= 11) return c.has(input) ? std::optional(c.in(input)) : std::nullopt;
    return c.has(attribute) ? std::optional(c.b.scalar(x.dtype, c.number(attribute, 0))) : std::nullopt;
  };
  const auto low = bound("min", 1), high = bound("max", 2);
  if (low && high) return {c.apply("minimum", {c.apply("maximum", {x, *low}), *high})};
  if (low) x = c.apply("maximum", {x, *low});
  if (high) x = c.apply("minimum", {x, *high});
  return {x};
}

DType target(Call& c) {
  const AttributeValue* name = nullptr;
  for (const NodeAttribute& a : c.node.attributes)
    if (a.name == "to") name = &a.value;
  std::int64_t number = -1;
  if (name != nullptr && std::holds_alternative<std::int64_t>(*name)) number = std::get<std::int64_t>(*name);
  if (name != nullptr && std::holds_alternative<std::string>(*name))
    for (int type = 1; type <= 26; ++type)
      if (element_type_name(type) == std::get<std::string>(*name)) number = type;
  const auto dtype = number < 0 || number > 100 ? std::nullopt : dtype_of(static_cast<int>(number));
  if (!dtype)
    throw ModelError{"", "conversion to " +
                             element_type_name(static_cast<int>(std::clamp<std::int64_t>(number, -1, 100))) +
                             " is not supported"};
  return *dtype;
}

std::vector<Term> cast(Call& c) {
  const DType to = target(c);
  return {c.in(0).dtype == to ? c.in(0) : c.apply("cast", {c.in(0)}, {{"dtype", to}})};
}
std::vector<Term> cast_like(Call& c) {
  const DType to = c.in(1).dtype;
  return {c.in(0).dtype == to ? c.in(0) : c.apply("cast", {c.in(0)}, {{"dtype", to}})};
}

std::vector<Term> is_infinite(Call& c) {
  const Term x = c.in(0);
  const bool positive = c.integer("detect_positive", 1) != 0, negative = c.integer("detect_negative", 1) != 0;
  if (positive && negative) return {c.apply("isinf", {x})};
  if (!positive && !negative)
    return {c.apply("logical_and", {c.apply("isinf", {x}), c.b.constant(Tensor::boolean(false))})};
  return {
      c.apply("logical_and", {c.apply("isinf", {x}), c.apply(positive ? "gt" : "lt", {x, c.b.scalar(x.dtype, 0)})})};
}

std::vector<Term> identity(Call& c) { return {c.in(0)}; }

// Outside of training no randomness is needed: all elements pass, and the mask is true.
std::vector<Term> dropout(Call& c) {
  bool training = c.version < 7 && c.integer("is_test", 0) == 0;
  if (c.version >= 12 && c.has(2)) {
    const Tensor& given = c.known(2, "whether it trains");
    if (given.dtype() != DType::boolean || given.elements() != 1)
      throw ModelError{"", "training_mode must be one Boolean"};
    training = given.truth();
  }
  const double ratio = c.version < 12 ? c.number("ratio", 0.5)
                       : !c.has(1)
                           ? 0.5
                           : [&] {
                               const Tensor& given = c.known(1, "the ratio");
                               if (given.elements() != 1) throw ModelError{"", "the ratio must be one number"};
                               const Term wide = c.apply("cast", {c.b.constant(given)}, {{"dtype", DType::f64}});
                               return wide.value->as<double>()[0];
                             }();
  if (training && ratio != 0 && c.version >= 7)
    throw ModelError{"", "random dropout is not supported: export the model for inference"};
  std::vector<Term> outputs = {c.in(0)};
  if (c.wants(1)) {
    const DType mask = c.version >= 10 ? DType::boolean : c.in(0).dtype;
    outputs.push_back(c.apply("full", {c.apply("cast", {c.b.constant(Tensor::boolean(true))}, {{"dtype", mask}})},
                              {{"shape", c.in(0).shape}}));
  }
  return outputs;
}

}  // namespace

std::vector<Row> elementwise_rows() {
  std::vector<Row> rows;
  for (const std::string_view op :
       {"Abs", "Neg", "Reciprocal", "Floor", "Ceil", "Sqrt", "Exp", "Log", "Tanh", "Sigmoid", "Relu"})
    rows.push_back({op, 1, 1, 1, 1, "consumed_inputs:ints", same});
  for (const auto& [op, since] : std::initializer_list<std::pair<std::string_view, int>>{{"Not", 1},
                                                                                         {"Softplus", 1},
                                                                                         {"Sin", 7},
                                                                                         {"Cos", 7},
                                                                                         {"Tan", 7},
                                                                                         {"Asin", 7},
                                                                                         {"Acos", 7},
                                                                                         {"Atan", 7},
                                                                                         {"Sinh", 9},
                                                                                         {"Cosh", 9},
                                                                                         {"Asinh", 9},
                                                                                         {"Acosh", 9},
                                                                                         {"Atanh", 9},
                                                                                         {"Erf", 9},
                                                                                         {"Sign", 9},
                                                                                         {"IsNaN", 9},
                                                                                         {"Round", 11},
                                                                                         {"BitwiseNot", 18}})
    rows.push_back({op, since, 1, 1, 1, "", same});
  for (const std::string_view op : {"Add", "Sub", "Mul", "Div"})
    rows.push_back({op, 1, 2, 2, 1, "axis:i broadcast:i consumed_inputs:ints", two});
  for (const std::string_view op : {"And", "Or", "Xor", "Equal", "Less", "Greater"})
    rows.push_back({op, 1, 2, 2, 1, "axis:i broadcast:i", two});
  for (const std::string_view op : {"LessOrEqual", "GreaterOrEqual"}) rows.push_back({op, 12, 2, 2, 1, "", same});
  for (const std::string_view op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    rows.push_back({op, 18, 2, 2, 1, "", same});
  rows.push_back({"Where", 9, 3, 3, 1, "", same});
  rows.push_back({"Pow", 1, 2, 2, 1, "axis:i broadcast:i", power});
  rows.push_back({"Mod", 10, 2, 2, 1, "fmod:i", modulo});
  rows.push_back({"BitShift", 11, 2, 2, 1, "direction:s!", shift});
  for (const std::string_view op : {"Max", "Min", "Sum", "Mean"})
    rows.push_back({op, 1, 1, -1, 1, "consumed_inputs:ints", chain});
  rows.push_back({"Clip", 1, 1, 3, 1, "min:f max:f consumed_inputs:ints", clip});
  rows.push_back({"Cast", 1, 1, 1, 1, "to:i! saturate:i round_mode:s", cast});
  rows.push_back({"CastLike", 15, 2, 2, 1, "saturate:i round_mode:s", cast_like});
  rows.push_back({"IsInf", 10, 1, 1, 1, "detect_negative:i detect_positive:i", is_infinite});
  rows.push_back({"Identity", 1, 1, 1, 1, "", identity});
  rows.push_back({"Dropout", 1, 1, 3, 2, "ratio:f is_test:i seed:i consumed_inputs:ints", dropout});
  return rows;
}

}  // namespace rml::onnx
