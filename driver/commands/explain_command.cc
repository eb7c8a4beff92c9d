// `rmlc explain`: the page of a diagnostic's code, an operator's row of the table, the page of all rows, a node of the
// standard library, or an index of all these.
#include <algorithm>
#include <iostream>
#include <utility>

#include "driver/commands/commands.h"
#include "driver/show/library_pages.h"
#include "frontend/explain.h"
#include "runtime/base/readable.h"
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

// Prints words in lines of at most 100 columns.
void print_words(const std::vector<std::string>& words) {
  constexpr std::size_t longest = 100;
  std::string line;
  for (const std::string& word : words) {
    if (line.size() + 2 + word.size() > longest) {
      std::cout << line << "\n";
      line.clear();
    }
    line += "  " + word;
  }
  std::cout << line << "\n";
}

void print_index(const std::filesystem::path& stdlib) {
  std::cout << "rmlc explain TOPIC tells more of one of these.\n\nMessages:\n";
  for (const Code code : all_codes()) std::cout << "  " << code_name(code) << "  " << code_title(code) << "\n";
  std::cout << "\nOperators (`rmlc explain operators`: all of them):\n";
  std::vector<std::string> names;
  for (const std::string& name : operators().names()) names.push_back(name);
  std::ranges::sort(names);
  print_words(names);
  std::cout << "\nNodes of the standard library:\n";
  print_words(library_topics(stdlib));
}

}  // namespace

int explain_topic(Invocation& invocation, const std::string& topic) {
  const std::filesystem::path& stdlib = invocation.session.resources.stdlib;
  if (topic.empty()) {
    print_index(stdlib);
    return exit_success;
  }
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
  if (const auto page = library_page(stdlib, topic)) {
    std::cout << *page;
    return exit_success;
  }
  std::vector<std::string> known = operators().names();
  for (std::string& node : library_topics(stdlib)) known.push_back(std::move(node));
  for (const Code code : all_codes()) known.emplace_back(code_name(code));
  const std::string near = did_you_mean(topic, known);
  std::cerr << readable_message("rmlc: nothing is known about '" + topic + "'")
            << (near.empty() ? "; `rmlc explain` without a topic lists what is" : "; did you mean '" + near + "'?")
            << "\n";
  return exit_usage;
}

}  // namespace rml
