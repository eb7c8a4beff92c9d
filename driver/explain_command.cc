// `rmlc explain`: the page of a diagnostic's code, an operator's row of the table, or the page of all rows.
#include <iostream>

#include "driver/commands.h"
#include "frontend/explain.h"
#include "runtime/readable.h"
#include "semantics/operators/operator.h"

namespace rml {
namespace {

std::string usage(const OperatorInfo& op) {
  std::string text = std::string(op.name) + "(";
  for (std::size_t i = 0; i < op.parameters.size(); ++i) {
    const OperatorParameter& p = op.parameters[i];
    text += (i == 0 ? "" : ", ") + std::string(p.name) + (p.variadic ? "…" : "");
    if (!p.default_value.empty()) text += "=" + std::string(p.default_value);
  }
  return text + ")";
}

void print(const OperatorInfo& op) {
  std::cout << usage(op) << "\n\n" << op.doc << "\n";
  if (!op.aliases.empty()) {
    std::cout << "\nAlso written:";
    for (const std::string_view alias : op.aliases) std::cout << " " << alias;
    std::cout << "\n";
  }
  if (!op.example.empty()) std::cout << "\nExample:\n  " << op.example << "\n";
  std::size_t operand = 0;
  for (const OperatorParameter& p : op.parameters) {
    if (p.kind != ParameterKind::operand || operand >= op.vjp.size()) continue;
    std::cout << (operand == 0 ? "\nDerivative:\n" : "") << "  d" << p.name << ": " << op.vjp[operand] << "\n";
    ++operand;
  }
  if (!op.onnx.empty()) std::cout << "\nONNX: " << op.onnx << "\n";
}

}  // namespace

int explain_topic(Invocation&, const std::string& topic) {
  if (const auto code = code_from_name(topic)) {
    std::cout << explain(*code);
    return exit_success;
  }
  if (topic == "operators") {
    std::cout << operator_reference();
    return exit_success;
  }
  if (const auto op = operators().find(topic)) {
    print(operators()[*op]);
    return exit_success;
  }
  std::vector<std::string> known = operators().names();
  for (const Code code : all_codes()) known.emplace_back(code_name(code));
  const std::string near = did_you_mean(topic, known);
  std::cerr << readable_message("rmlc: nothing is known about '" + topic + "'")
            << (near.empty() ? "; name a code such as E0301 or an operator such as matmul"
                             : "; did you mean '" + near + "'?")
            << "\n";
  return exit_usage;
}

}  // namespace rml
