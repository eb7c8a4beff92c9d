// Prints a cycle of a straight program as its block, and many cycles as a loop over it.
#include "lowering/c/print_straight.h"

#include <map>

#include "lowering/c/print_block.h"
#include "lowering/signature.h"

namespace rml::c99 {

namespace {

constexpr std::size_t stack_bytes = 4096;

bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
    const bool begins = at == 0 || !is_of_word(text[at - 1]);
    if (begins && (at + word.size() == text.size() || !is_of_word(text[at + word.size()]))) return true;
  }
  return false;
}

std::vector<InterfaceParameter> all_parameters(const Core& core) {
  std::vector<InterfaceParameter> all = input_parameters(core);
  for (const InterfaceParameter& p : output_parameters(core)) all.push_back(p);
  return all;
}

std::vector<Port> renamed(std::vector<Port> ports, const std::map<std::string, std::string>& called) {
  for (Port& port : ports) {
    port.value = called.at(port.value);
    if (!port.present.empty()) port.present = called.at(port.present);
  }
  return ports;
}

std::string without_comments(const std::string& text) {
  std::string rest;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find("/*", at);
    rest += text.substr(at, begin - at);
    if (begin == std::string::npos) return rest;
    at = text.find("*/", begin);
  }
}

}  // namespace

std::string unused(const std::vector<std::string>& names, const std::string& text) {
  std::string result;
  const std::string code = without_comments(text);
  for (const std::string& name : names)
    if (!has_word(code, name)) result += "  (void)" + name + ";\n";
  return result;
}

void place_tensors(Scope& scope) {
  std::size_t all = 0;
  const auto bytes = [&](loops::BufferId b) {
    return static_cast<std::size_t>(element_count(scope.file[b].shape).value_or(0)) * byte_size(scope.file[b].dtype);
  };
  for (const loops::BufferId b : scope.plan.tensors()) all += bytes(b);
  if (all <= stack_bytes) return;
  for (const loops::BufferId b : scope.plan.tensors()) scope.keep_in_state(b);
}

void print_step(File& file, Code& to) {
  const Core& core = *file.steps.core;
  const bool faults = can_fault(file.program);
  Code body;
  body.open("");
  const loops::Block& block = file.program.units.at(0).instant;
  const Plan plan(file.program, block, {});
  Names names = file.names;
  std::vector<std::string> parameters = {"state"};
  std::vector<InterfaceParameter> all = all_parameters(core);
  std::map<std::string, std::string> called;
  for (InterfaceParameter& p : all) {
    std::string& own = called[p.name];
    own = p.name;
    if (names.taken(own)) own = names.unique(own + (p.of_input() ? "_in" : "_out"));
    names.take(own);
    p.name = own;
    parameters.push_back(own);
  }
  Scope scope(file, plan, body, names);
  scope.inputs = renamed(input_ports(core), called);
  scope.outputs = renamed(output_ports(core), called);
  scope.name_variables();
  place_tensors(scope);
  for (const Port& port : scope.outputs)
    if (!port.present.empty()) body.line("*" + port.present + " = 0;");
  if (faults) body.line("if (state->fault != 0) return state->fault;");
  print_block(scope, block);
  scope.finish();
  if (faults) {
    body.line("++state->cycles;");
    body.line("return 0;");
  }
  body.close();
  to.line(std::string(faults ? "int32_t " : "void ") + file.name + "_step(" + file.name + "_state* state" +
          parameter_list(all, false) + ") {");
  const std::string text = body.text().substr(body.text().find('\n') + 1);
  to.raw(unused(parameters, text) + text);
}

void print_run(File& file, Code& to) {
  const Core& core = *file.steps.core;
  const bool faults = can_fault(file.program);
  std::string arguments;
  for (const InterfaceParameter& p : all_parameters(core)) arguments += ", " + row_of(p, "k_");
  to.blank();
  to.open(std::string(faults ? "int32_t " : "void ") + file.name + "_run(" + file.name + "_state* state, int64_t n" +
          parameter_list(all_parameters(core), true) + ")");
  to.open("for (int64_t k_ = 0; k_ < n; ++k_)");
  const std::string call = file.name + "_step(state" + arguments + ");";
  to.line(faults ? "const int32_t fault_ = " + call : call);
  if (faults) to.line("if (fault_ != 0) return fault_;");
  to.close();
  if (faults) to.line("return 0;");
  to.close();
}

std::string step_many_text(const File& file, bool faults) {
  const Core& core = *file.steps.core;
  const std::string& name = file.name;
  std::string arguments;
  for (const InterfaceParameter& p : all_parameters(core)) arguments += ", " + row_of(p, "k_");
  const std::string call = name + "_step(states_[k_]" + arguments + ");";
  Code code;
  code.comment(name + "_step of n different states. Every port is an array over states." +
               (faults ? " The first fault, or 0." : ""));
  code.open(std::string("static inline ") + (faults ? "int32_t " : "void ") + name + "_step_many(" + name +
            "_state* const* states_, int64_t n" + parameter_list(all_parameters(core), true) + ")");
  if (faults) code.line("int32_t fault_ = 0;");
  code.open("for (int64_t k_ = 0; k_ < n; ++k_)");
  code.line(faults ? "const int32_t now_ = " + call : call);
  if (faults) code.line("if (fault_ == 0) fault_ = now_;");
  code.close();
  if (faults) code.line("return fault_;");
  code.close();
  return code.text();
}

}  // namespace rml::c99
