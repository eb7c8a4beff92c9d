// Writes the reference page of all operators from the table.
//
// One section per operator, in table order: its signature with dtypes, its meaning, an example
// with its value, its gradients, and the corresponding ONNX operator. Dtype variables are written
// T, U, …; words such as "number" name the sets over which they range.
#include <algorithm>

#include "semantics/operators/operator.h"

namespace rml {

namespace {

std::string set_text(DTypeSet set) {
  if (set == dtypes::element) return "any";
  if (set == dtypes::number) return "number";
  if (set == dtypes::ordered) return "number, f16 or bf16";
  if (set == dtypes::integer) return "integer";
  if (set == dtypes::index) return "integer but u64";
  if (set == dtypes::real) return "float";
  std::string text;
  for (int d = 0; d < dtype_count; ++d) {
    if ((set & bit(static_cast<DType>(d))) == 0) continue;
    if (!text.empty()) text += " or ";
    text += name(static_cast<DType>(d));
  }
  return text;
}

std::string slot_text(const DTypeSlot& slot) {
  if (slot.variable < 0) return set_text(slot.allowed);
  return std::string(1, "TUVW"[slot.variable & 3]);
}

std::string_view kind_text(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::operand:
      return "";
    case ParameterKind::integers:
      return "static integers";
    case ParameterKind::number:
      return "static number";
    case ParameterKind::dtype:
      return "dtype";
    case ParameterKind::text:
      return "text";
  }
  return "";
}

std::string signature(const OperatorInfo& info) {
  std::string text = std::string(info.name) + "(";
  bool first = true;
  for (const OperatorParameter& parameter : info.parameters) {
    if (!first) text += ", ";
    first = false;
    text += parameter.name;
    if (parameter.variadic) text += "…";
    if (parameter.kind == ParameterKind::operand) {
      text += ": " + slot_text(parameter.dtype);
    } else if (!parameter.default_value.empty()) {
      text += " = " + std::string(parameter.default_value);
    }
  }
  return text + ") -> " + slot_text(info.result);
}

// The explanation of the signature's names, such as "T number, U integer; `shape`: static
// integers".
std::string where_text(const OperatorInfo& info) {
  std::string text;
  std::vector<int> told;
  const auto tell = [&](const DTypeSlot& slot) {
    if (slot.variable < 0) return;
    for (const int variable : told) {
      if (variable == slot.variable) return;
    }
    told.push_back(slot.variable);
    text += (text.empty() ? "" : ", ") + slot_text(slot) + " " + set_text(slot.allowed);
  };
  bool has_dtype = false;
  for (const OperatorParameter& parameter : info.parameters) {
    if (parameter.kind == ParameterKind::operand) tell(parameter.dtype);
    has_dtype = has_dtype || parameter.kind == ParameterKind::dtype;
  }
  const bool free_result = !has_dtype && info.result.variable >= 0 &&
                           std::find(told.begin(), told.end(), info.result.variable) == told.end();
  tell(info.result);
  if (has_dtype) text += ", the given dtype";
  if (free_result) text += ", " + std::string(name(info.result.fallback)) + " by default";
  for (const OperatorParameter& parameter : info.parameters) {
    if (parameter.kind == ParameterKind::operand) continue;
    text += (text.empty() ? "" : "; ") + ("`" + std::string(parameter.name) + "`: ") +
            std::string(kind_text(parameter.kind));
  }
  return text;
}

std::string gradient_text(const OperatorInfo& info) {
  std::string text;
  std::size_t k = 0;
  for (const OperatorParameter& parameter : info.parameters) {
    if (parameter.kind != ParameterKind::operand) continue;
    const std::string_view rule = info.vjp[k++];
    text += text.empty() ? "" : "; ";
    if (rule.substr(0, 6) == "none: ") {
      std::string reason(rule.substr(6));
      if (const std::size_t at = reason.find("`: it "); at != std::string::npos) reason.replace(at, 5, "`");
      text += "`" + std::string(parameter.name) + "`: none, because " + reason;
    } else {
      text += "`d" + std::string(parameter.name) + " = " + std::string(rule) + "`";
    }
  }
  return text;
}

std::string section(const OperatorInfo& info) {
  std::string text = "### " + std::string(info.name) + "\n\n`" + signature(info) + "`";
  if (const std::string where = where_text(info); !where.empty()) text += " — " + where;
  text += "\n\n" + std::string(info.doc) + "\n\n";
  if (!info.aliases.empty()) {
    text += "- also written:";
    for (const std::string_view alias : info.aliases) text += " `" + std::string(alias) + "`";
    text += "\n";
  }
  text += "- example: `" + std::string(info.example) + "`\n";
  if (const std::string gradient = gradient_text(info); !gradient.empty()) text += "- gradient: " + gradient + "\n";
  if (!info.onnx.empty()) text += "- ONNX: " + std::string(info.onnx) + "\n";
  return text + "\n";
}

constexpr std::string_view edges = R"(## Where there is no value

- Integers wrap. An integer division or remainder by zero stops the run; the message gives the place and the cycle.
  Floats follow IEEE 754. A cast of a float to an integer type saturates, and NaN gives 0.
- An index outside its axis stops the run. `take`, gathers and scatters also accept negative indices, which count from
  the end; `index`, `place` and the starts of dynamic slices do not. `one_hot` of an index outside its range is 0
  everywhere. Static indices and slices outside their axis are errors when the program is compiled.
- Without elements, the sum is 0, the product 1, the mean and the variance NaN, `logsumexp` -inf, and a norm 0. The
  minimum is inf or the largest integer, and the maximum -inf or the smallest integer. `all` is true, and `any` is
  false. `argmax` and `argmin` without elements are errors when the program is compiled; so is resizing, sampling or
  pooling an axis without elements.
- `minimum`, `maximum`, `min`, `max`, `clip`, `relu` and pools return NaN if an operand is NaN. `argmax` and `argmin`
  return the position of a NaN if there is one. NaN sorts after all numbers, and equals nothing. Of equal elements the
  first counts in `argmax`, `sort`, `argtopk` and `max_pool`. In gradients, equal extrema of `min`, `max`, `minimum`
  and `maximum` share the adjoint equally; in a pool, the first of them gets all of it.
- A singular matrix stops the run in `solve`, `inverse`, `triangular_solve` and negative powers. A matrix that is not
  positive definite stops the run in `cholesky`. The run also stops where a pivot of `nonzero_pivot` or `positive_pivot`
  is refused. The determinant of a singular matrix is 0, and its `slogdet_parts` are
  0 and -inf. If a matrix contains NaN or an infinity, all elements of the result are NaN. Singular values and
  eigenvalues that do not converge stop the run.
- Shapes that do not fit, axes that do not exist, attributes of the wrong kind, more than 8 axes and more than
  4294967296 elements are errors when the program is compiled. The message shows the shapes and the call that led
  there.

## All operators

)";

}  // namespace

std::string operator_reference() {
  std::string text =
      "# Operators\n\n"
      "`rmlc explain operators` prints this page, which is generated from the operator table. In a signature, T,\n"
      "U, … are dtypes (number: any integer or float; float: f32 or f64), and `x…` is one or more operands.\n"
      "Parameters with `=` are optional (`all`: every axis). All operands of a call have the same clock; the\n"
      "other parameters are static. In an example, the text after `--` is the value. In a gradient, `y` is the\n"
      "result and `dy` its adjoint. If operands broadcast, their adjoints are then summed to their shapes. For a\n"
      "variadic `x`, `x...` stands for all operands, and `part` for the position of the one that is\n"
      "differentiated.\n\n";
  text += edges;
  const OperatorTable& table = operators();
  for (std::size_t id = 0; id < table.size(); ++id) text += section(table[static_cast<OperatorId>(id)]);
  return text;
}

}  // namespace rml
