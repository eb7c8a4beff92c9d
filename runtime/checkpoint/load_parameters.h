// --load-params: the parameters that a program begins with, from a file (parameter_file.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/parameter_file.h"
#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

// Before the first cycle. What is to be told of it, in lines. Throws Failure that names what is missing or does not
// fit.
std::vector<std::string> load_parameters(const rml_program& program, void* state, const ParameterSource& source,
                                         GivenParameters& given);

}  // namespace rml::rt
