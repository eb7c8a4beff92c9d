// Gives each parameter that was read from a file to all slots that use it.
#include "runtime/checkpoint/load_parameters.h"

namespace rml::rt {

std::vector<std::string> load_parameters(const rml_program& program, void* state, const ParameterSource& source,
                                         GivenParameters& given) {
  std::vector<rml_parameter> wanted;
  for (const rml_parameter& p : std::span(program.parameters, program.n_parameters))
    if (p.slot != UINT64_MAX) wanted.push_back(p);
  LoadedParameters loaded;
  read_parameters(source, program.name, named_memories(program), wanted, loaded);
  for (const LoadedParameters::Given& each : loaded.given)
    given.give(program, state, each.to->path, each.elements.data());
  return std::move(loaded.told);
}

}  // namespace rml::rt
