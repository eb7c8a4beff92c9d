// Changes states and parameters in files with correct checksums. Programs of states.rml restore
// them and continue.
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

// Loads the shared library FOLDER/NODE.KIND.so.
SavedProgram load_saved(const std::string& path);

// Both functions throw the exceptions of the runtime.
void run_state_mutant(const SavedProgram& saved, Random& random);
// The file is written to `folder`.
void run_parameter_mutant(const SavedProgram& saved, const std::string& folder, Random& random);

}  // namespace rml::fuzz
