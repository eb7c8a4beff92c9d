// Finds the functions that a compiled program calls but does not define, if it runs in the
// process of its compiler.
//
// A program in a file is linked with the runtime and the C library. For a program in memory, the
// runtime's functions are in a table that the build of the runtime generates, and the other
// functions are looked up in the C library. No other code of the process is searched, such as an
// interpreter or foreign libraries.
#pragma once

#include <span>
#include <string>

namespace rml::rt {

struct ProgramFunction {
  const char* name;
  void (*address)();
};
// The runtime's functions, sorted by name.
std::span<const ProgramFunction> program_functions();

// The address of the function or variable with this name in the runtime or the C library; null if
// neither has it.
void* find_program_function(const std::string& name);

}  // namespace rml::rt
