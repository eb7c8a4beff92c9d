// Gives a program its initial parameters from a file (--load-params; parameter_file.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/parameter_file.h"
#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

// Call it before the first cycle. Returns the lines to be printed. Throws Failure that names the
// parameters that are missing or do not fit.
std::vector<std::string> load_parameters(const rml_program& program, void* state, const ParameterSource& source,
                                         GivenParameters& given);

}  // namespace rml::rt
