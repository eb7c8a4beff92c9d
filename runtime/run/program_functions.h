// The functions that compiled programs call and do not define, where these run beside their compiler.
//
// A program in a file is linked with the runtime and the C library. One in memory finds here what it would find there:
// the runtime's functions in a table that is made when the runtime is built, those of the C library in the C library.
// Whatever else the process holds, an interpreter or the libraries of others, is not looked at.
#pragma once

#include <span>
#include <string>

namespace rml::rt {

struct ProgramFunction {
  const char* name;
  void (*address)();
};
// The runtime's, sorted by name.
std::span<const ProgramFunction> program_functions();

// The address of the runtime's or the C library's function (or variable) of that name; null: they have none.
void* find_program_function(const std::string& name);

}  // namespace rml::rt
