// Infix and prefix operators and subscripts are written as the language has them, everything else as
// a call.
#include "onnx/applied_operator.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "onnx/literal.h"
#include "semantics/instantiate/literals.h"

namespace rml::onnx {

namespace {

constexpr int level_or = 10, level_and = 20, level_comparison = 30, level_sum = 40, level_product = 50,
              level_prefix = 70;

struct Infix {
  std::string_view op, sign;
  int level;
};
constexpr Infix infixes[] = {
    {"add", " + ", level_sum},        {"sub", " - ", level_sum},           {"mul", " * ", level_product},
    {"div", " / ", level_product},    {"eq", " == ", level_comparison},    {"ne", " != ", level_comparison},
    {"lt", " < ", level_comparison},  {"le", " <= ", level_comparison},    {"gt", " > ", level_comparison},
    {"ge", " >= ", level_comparison}, {"logical_and", " and ", level_and}, {"logical_or", " or ", level_or},
    {"mod", " % ", level_product},
};

std::string list(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (const std::int64_t v : values) text += (text.size() > 1 ? ", " : "") + std::to_string(v);
  return text + "]";
}

std::string argument_text(const Argument& a) {
  if (const auto* v = std::get_if<std::int64_t>(&a)) return std::to_string(*v);
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&a)) return list(*v);
  if (const auto* v = std::get_if<double>(&a)) return float_text(*v);
  if (const auto* v = std::get_if<DType>(&a)) return std::string(name(*v));
  return '"' + std::get<std::string>(a) + '"';
}

rml::Attribute attribute(const Argument& a, ParameterKind kind) {
  rml::Attribute to;
  to.given = true;
  if (const auto* v = std::get_if<std::int64_t>(&a)) {
    to.scalar = true;
    to.integers = {*v};
    to.number = static_cast<double>(*v);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a)) {
    to.integers = *list;
  } else if (const auto* number = std::get_if<double>(&a)) {
    to.number = *number;
  } else if (const auto* dtype = std::get_if<DType>(&a)) {
    to.dtype = *dtype;
  } else {
    to.text = std::get<std::string>(a);
  }
  if (kind == ParameterKind::number) to.integers.clear(), to.scalar = false;
  return to;
}

const Argument* given(const Arguments& arguments, std::string_view name) {
  for (const auto& [key, value] : arguments)
    if (key == name) return &value;
  return nullptr;
}

// The dtype of the result, after checks of the operands' dtypes.
DType solve(const OperatorInfo& info, const std::vector<const OperatorParameter*>& slots,
            const std::vector<Term>& operands, const Arguments& arguments, std::optional<DType> result) {
  std::map<int, DType> variables;  // dtypes of the variables in the operator's row
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const DTypeSlot& slot = slots[k]->dtype;
    const DType dtype = operands[k].dtype;
    if ((slot.allowed & bit(dtype)) == 0)
      throw ModelError{"", std::string(info.name) + " is not defined for " + std::string(name(dtype))};
    if (slot.variable < 0) continue;
    const auto [at, first] = variables.emplace(slot.variable, dtype);
    if (!first && at->second != dtype)
      throw ModelError{
          "", std::string(info.name) + " of " + std::string(name(at->second)) + " and " + std::string(name(dtype))};
  }
  DType found = result.value_or(info.result.fallback);
  if (info.result.variable >= 0 && variables.contains(info.result.variable))
    found = variables[info.result.variable];
  else if (info.result.variable < 0)
    for (int d = 0; d < dtype_count; ++d)
      if (info.result.allowed == bit(static_cast<DType>(d))) found = static_cast<DType>(d);
  for (const OperatorParameter& p : info.parameters)
    if (const Argument* a = p.kind == ParameterKind::dtype ? given(arguments, p.name) : nullptr)
      found = std::get<DType>(*a);
  return found;
}

// Returns a range of an axis of extent n in the syntax of the language; bounds at the end of the
// axis are omitted.
std::string range_text(std::int64_t n, std::int64_t from, std::int64_t to, std::int64_t step) {
  const auto bound = [](std::int64_t at, std::int64_t end) { return at == end ? "" : std::to_string(at); };
  if (step < 0) return bound(from, n - 1) + ":" + bound(to, -n - 1) + ":" + std::to_string(step);
  return bound(from, 0) + ":" + bound(to, n) + (step == 1 ? "" : ":" + std::to_string(step));
}

// Returns the ranges of a slice in the syntax of the language, for example `:, 1:3`; "" selects
// everything. Returns nothing if the slice cannot be written so.
std::optional<std::string> subscript(const Shape& x, const Arguments& arguments) {
  using Integers = std::vector<std::int64_t>;
  const auto bounds = [&](const char* name) -> const Integers* {
    const Argument* a = given(arguments, name);
    const auto* list = a == nullptr ? nullptr : std::get_if<Integers>(a);
    return list != nullptr && list->size() == x.size() ? list : nullptr;
  };
  const Integers *from = bounds("starts"), *to = bounds("stops"), *by = bounds("steps");
  if (from == nullptr || to == nullptr || (by == nullptr && given(arguments, "steps") != nullptr)) return std::nullopt;
  std::string text, all;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t step = by == nullptr ? 1 : (*by)[k];
    const auto range = slice_range(x, k, (*from)[k], (*to)[k], step);
    if (!std::holds_alternative<SliceRange>(range)) return std::nullopt;
    all += (k == 0 ? "" : ", ") + range_text(x[k], (*from)[k], (*to)[k], step);
    const bool whole = std::get<SliceRange>(range).count == x[k] && step == 1;
    if (!whole) text = all;
  }
  return text;
}

// Estimates the work. A product of an m × n and an n × k matrix takes m n k steps, which is the
// square root of the product of its three sizes.
std::int64_t work_of(const OperatorInfo& info, const std::vector<Term>& operands, std::int64_t result,
                     std::int64_t read) {
  const bool of_each = operands.size() < 2 || info.lowering == Lowering::elementwise;
  if (of_each) return result + read;
  const auto size = [](std::int64_t n) { return static_cast<double>(n); };
  const double product = size(result) * size(operands[0].elements()) * size(operands[1].elements());
  return result + read + static_cast<std::int64_t>(std::sqrt(product));
}

}  // namespace

AppliedOperator::AppliedOperator(std::string_view op, std::vector<Term> operands, const Arguments& arguments,
                                 std::optional<DType> result)
    : info_(operators()[operators().require(op)]), operands_(std::move(operands)), arguments_(arguments) {
  for (const OperatorParameter& p : info_.parameters) fixed_ += p.kind == ParameterKind::operand && !p.variadic;
  for (const OperatorParameter& p : info_.parameters) {
    if (p.kind == ParameterKind::operand) {
      slots_.insert(slots_.end(), count(p), &p);
      continue;
    }
    const Argument* a = given(arguments_, p.name);
    attributes_.push_back(a != nullptr ? attribute(*a, p.kind) : draft::default_attribute(p.default_value, p.kind));
  }
  dtype_ = solve(info_, slots_, operands_, arguments_, result);
  for (const Term& t : operands_) dtypes_.push_back(t.dtype), shapes_.push_back(t.shape);
  const ShapeResult shaped = info_.shape(Application{dtypes_, shapes_, attributes_, dtype_});
  if (const auto* why = std::get_if<std::string>(&shaped)) throw ModelError{"", std::string(info_.name) + ": " + *why};
  shape_ = std::get<Shape>(shaped);
}

std::optional<Term> AppliedOperator::known(const std::function<void(std::int64_t)>& spend) const {
  Term term{"", Term::atom, dtype_, shape_, nullptr, ""};
  std::int64_t read = 0;
  for (const Term& t : operands_) read += t.elements();
  const bool all_known = !info_.random && std::ranges::all_of(operands_, &Term::known);
  if (!all_known || !worth_folding(info_.lowering, term.elements(), read)) return std::nullopt;
  spend(work_of(info_, operands_, term.elements(), read));
  std::vector<const Tensor*> values;
  for (const Term& t : operands_) values.push_back(t.value.get());
  Tensor value(dtype_, shape_);
  if (info_.evaluate(Application{dtypes_, shapes_, attributes_, dtype_}, {}, values, value).kind != 0)
    return std::nullopt;
  term.value = std::make_shared<const Tensor>(std::move(value.freeze()));
  for (const Term& t : operands_)
    if (term.hint.empty()) term.hint = t.hint;
  return term;
}

// A literal gets its dtype from an operand with the same type variable that is not a literal.
std::string AppliedOperator::text(const TextOf& text_of, std::size_t operand) const {
  const int variable = slots_[operand]->dtype.variable;
  bool typed = false;
  for (std::size_t k = 0; k < operands_.size() && variable >= 0; ++k)
    typed = typed || (k != operand && !operands_[k].known() && slots_[k]->dtype.variable == variable);
  return text_of(operands_[operand], typed);
}

std::string AppliedOperator::grouped(const TextOf& text_of, std::size_t operand, int level) const {
  const Term& term = operands_[operand];
  const bool low = !term.known() && term.precedence < level;
  return low ? "(" + text(text_of, operand) + ")" : text(text_of, operand);
}

std::string AppliedOperator::call(const TextOf& text_of) const {
  std::string all = std::string(info_.name) + "(";
  const auto add = [&](const std::string& part) { all += (all.ends_with('(') ? "" : ", ") + part; };
  std::size_t k = 0;
  for (const OperatorParameter& p : info_.parameters) {
    if (p.kind == ParameterKind::operand) {
      for (const std::size_t end = k + count(p); k < end; ++k) add(text(text_of, k));
    } else if (const Argument* a = given(arguments_, p.name)) {
      add((p.default_value.empty() ? "" : std::string(p.name) + "=") + argument_text(*a));
    }
  }
  return all + ")";
}

Term AppliedOperator::written(const TextOf& text_of) const {
  Term term{"", Term::atom, dtype_, shape_, nullptr, ""};
  const auto* const infix = std::ranges::find(infixes, info_.name, &Infix::op);
  if (infix != std::end(infixes)) {
    const int left = infix->level + (infix->level == level_comparison ? 1 : 0);
    term.text = grouped(text_of, 0, left) + std::string(infix->sign);
    term.text += grouped(text_of, 1, infix->level + 1);
    term.precedence = infix->level;
  } else if (info_.name == "negate" || info_.name == "logical_not") {
    term.text = (info_.name == "negate" ? "-" : "not ") + grouped(text_of, 0, Term::atom);
    term.precedence = level_prefix;
  } else if (const auto ranges = info_.name == "slice" ? subscript(shapes_[0], arguments_) : std::nullopt) {
    if (ranges->empty()) return operands_[0];
    term.text = grouped(text_of, 0, Term::atom) + "[" + *ranges + "]";
  } else {
    term.text = call(text_of);
  }
  return term;
}

}  // namespace rml::onnx
