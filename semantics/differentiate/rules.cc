// A rule is parsed at its first use, as the only equation of a node, and stored.
#include "semantics/differentiate/rules.h"

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "frontend/parse_module.h"

namespace rml {

namespace {

struct ParsedRule {
  Program program;
  DerivativeRule rule;
};

std::unique_ptr<ParsedRule> parse(const OperatorInfo& row, std::string text) {
  auto result = std::make_unique<ParsedRule>();
  if (text.starts_with("none: ")) {
    result->rule.because = text.substr(6);
    return result;
  }
  for (std::size_t at; (at = text.find("...")) != std::string::npos;) text.replace(at, 3, "__all");
  SourceMap sources;
  Diagnostics diagnostics;
  const std::uint32_t file = sources.add("rule", "node rule() -> (d) d = " + text + ";");
  result->program.modules.resize(1);
  result->program.modules[0] = parse_module(file, ModuleId{0}, result->program, sources, diagnostics).module;
  if (diagnostics.has_errors() || result->program.nodes.size() != 1)
    throw std::logic_error("the derivative rule of " + std::string(row.name) + " does not parse: " + text);
  result->rule.program = &result->program;
  result->rule.adjoint = result->program.nodes[0].equations[0].value;
  return result;
}

}  // namespace

const DerivativeRule& derivative_rule(OperatorId op, std::size_t operand) {
  static std::mutex mutex;
  static std::map<std::pair<OperatorId, std::size_t>, std::unique_ptr<ParsedRule>> rules;
  const std::lock_guard lock(mutex);
  auto& rule = rules[{op, operand}];
  if (!rule) rule = parse(operators()[op], std::string(operators()[op].vjp.at(operand)));
  return rule->rule;
}

}  // namespace rml
