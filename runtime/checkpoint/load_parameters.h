// --load-params: parameters by path, from a checkpoint or any other safetensors file.
//
// Every parameter of the program must be in the file, of its shape; what else the file holds is of
// no interest. A float converts to a wider one, which is exact; anything else is refused.
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/renaming.h"
#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

// Before the first cycle. Throws Failure that names what is missing or does not fit.
void load_parameters(const rml_program& program, void* state, const std::string& path, const std::vector<Renamed>& map,
                     GivenParameters& given);

}  // namespace rml::rt
