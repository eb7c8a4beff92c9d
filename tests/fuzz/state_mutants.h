// States and parameters that somebody has changed, with checksums that are right: restored, and run on, by programs of
// states.rml.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/damage.h"
#include "runtime/base/rmlrt.h"

namespace rml::fuzz {

// A program, and its states after several numbers of cycles.
struct SavedProgram {
  const rml_program* program = nullptr;
  std::vector<std::string> states;
};

// From a shared library FOLDER/NODE.KIND.so.
SavedProgram load_saved(const std::string& path);

// Throw what the runtime throws.
void run_state_mutant(const SavedProgram& saved, Random& random);
// folder: where the file may lie.
void run_parameter_mutant(const SavedProgram& saved, const std::string& folder, Random& random);

}  // namespace rml::fuzz
