// Selects the parameters of leading outputs, and finds the types of parameters.
#include "lowering/llvm/interface/parameters.h"

#include <algorithm>

#include "lowering/steps/leader.h"

namespace rml::codegen {

std::vector<InterfaceParameter> leading_parameters(const steps::Program& program) {
  std::vector<InterfaceParameter> list = output_parameters(*program.core);
  const std::vector<bool> leads = leading_outputs(program);
  std::erase_if(list, [&](const InterfaceParameter& p) { return !leads[p.port]; });
  return list;
}

DType dtype_of(const Core& core, const InterfaceParameter& p) {
  if (p.role == InterfaceParameter::input) return core[core.inputs[p.port].value].dtype;
  if (p.role == InterfaceParameter::output) return core[core.outputs[p.port].value].dtype;
  return DType::boolean;
}

bool has_advance(const Core& core) {
  return std::ranges::all_of(core.outputs, [&](const Port& port) {
    return core[port.value].clock == base_clock && core[port.value].shape.empty();
  });
}

}  // namespace rml::codegen
