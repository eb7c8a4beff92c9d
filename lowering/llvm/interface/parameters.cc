// Parameters of leading outputs are those of all outputs, less the others.
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

bool has_advance(const Core& core) {
  return std::ranges::all_of(core.outputs, [&](const Port& port) {
    return core[port.value].clock == base_clock && core[port.value].shape.empty();
  });
}

}  // namespace rml::codegen
