// Signatures, made of the ports.
#include "lowering/c/interface.h"

#include <algorithm>

#include "lowering/c/literals.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::c99 {

namespace {

std::vector<Parameter> parameters(const Core& core, const std::vector<rml::Port>& ports, bool input) {
  std::vector<Parameter> list;
  const std::string pointer = input ? "const " : "";
  for (const rml::Port& port : ports) {
    const Value& value = core[port.value];
    const std::string name = port_identifier(port.name), type = port_type(value.dtype);
    if (value.clock != base_clock)
      list.push_back({name + "_present", input ? "uint8_t" : "uint8_t*", "uint8_t", input, input, 1});
    const bool by_value = input && value.shape.empty();
    list.push_back(
        {name, by_value ? type : pointer + type + "*", type, input, by_value, element_count(value.shape).value_or(0)});
  }
  return list;
}

std::vector<Port> named_ports(const Core& core, const std::vector<rml::Port>& ports) {
  std::vector<Port> list;
  for (const rml::Port& port : ports) {
    const std::string name = port_identifier(port.name);
    list.push_back({name, core[port.value].clock != base_clock ? name + "_present" : ""});
  }
  return list;
}

struct Scan {
  const loops::Program& program;
  bool fault = false, draw = false;

  void block(const loops::Block& b, const Core& core) {
    for (const loops::Statement& s : b.statements) statement(s, core);
  }
  void statement(const loops::Statement& s, const Core& core) {
    std::visit(Overloaded{
                   [&](const loops::Nest& n) {
                     fault |= std::ranges::any_of(n.body, [&](const loops::Element& e) {
                       const auto* check = std::get_if<loops::Check>(&e);
                       return check != nullptr && !never_holds(n, *check);
                     });
                   },
                   [](const loops::Copy&) {},
                   [&](const loops::Kernel& k) {
                     const core::Apply* apply = apply_of(core, k.of);
                     draw |= apply != nullptr && operators()[apply->op].lowering == Lowering::random;
                     fault |= apply != nullptr && operators()[apply->op].can_fail;
                   },
                   [](const loops::ExternalCall&) {},
                   [&](const loops::Rounds& r) { block(*r.block, *program.bodies[r.body]->core); },
                   [&](const loops::Branch& b) { block(*b.then_block, core), block(*b.else_block, core); },
                   [](const loops::Push&) {},
                   [&](const loops::Expect&) { fault = true; },
                   [&](const loops::Assert&) { fault = true; },
                   [&](const loops::SideCell&) { fault = true; },
                   [](const loops::MarkLast&) {},
               },
               s);
  }
};

Scan scanned(const loops::Program& program) {
  Scan scan{program};
  const Core& core = *program.steps->core;
  for (const loops::Unit& unit : program.units) {
    for (const loops::Block* block : {&unit.instant, &unit.before, &unit.commit}) scan.block(*block, core);
    for (const loops::Pass& pass : unit.passes) scan.block(pass.prologue, core), scan.block(pass.body, core);
  }
  return scan;
}

}  // namespace

std::vector<Parameter> input_parameters(const Core& core) { return parameters(core, core.inputs, true); }
std::vector<Parameter> output_parameters(const Core& core) { return parameters(core, core.outputs, false); }
std::vector<Port> input_ports(const Core& core) { return named_ports(core, core.inputs); }
std::vector<Port> output_ports(const Core& core) { return named_ports(core, core.outputs); }

std::string parameter_list(const std::vector<Parameter>& list, bool rows) {
  std::string text;
  for (const Parameter& p : list) {
    const std::string type = !rows || !p.by_value ? p.type : "const " + p.element + "*";
    text += ", " + type + " " + p.name;
  }
  return text;
}

bool never_holds(const loops::Nest& nest, const loops::Check& check) {
  const auto* asked = std::get_if<loops::Operation>(&nest.body[check.bad]);
  if (asked == nullptr || asked->op != ScalarOp::eq) return false;
  const auto* a = std::get_if<loops::Number>(&nest.body[asked->operands[0]]);
  const auto* b = std::get_if<loops::Number>(&nest.body[asked->operands[1]]);
  return a != nullptr && b != nullptr && is_integer(asked->dtype) && !(a->value == b->value);
}

bool can_fault(const loops::Program& program) { return scanned(program).fault; }
bool draws(const loops::Program& program) { return scanned(program).draw; }

std::string ports_text(const Core& core) {
  std::string text;
  const auto describe = [&](const std::vector<rml::Port>& ports, const char* direction) {
    for (const rml::Port& port : ports)
      text += " *   " + std::string(direction) + " " + port.name + ": " +
              type_string(core[port.value].dtype, core[port.value].shape) + ", " +
              clock_string(core, core[port.value].clock) + "\n";
  };
  describe(core.inputs, "in ");
  describe(core.outputs, "out");
  return text;
}

}  // namespace rml::c99
