// Options of code generation, and the sizes of the state that it reports. This file includes no LLVM headers.
#pragma once

#include <cstdint>
#include <string>

#include "lowering/target.h"

namespace rml {

// The name by which generated code calls an external function if rmlc links it. No C function has such a name.
inline std::string external_symbol(const std::string& name) { return "rml_external." + name; }

struct EmitOptions {
  TargetOptions target;
  bool with_main = false;
  bool with_program = true;  // emit the rml_program table and its functions
  bool with_run = false;     // emit rml_program::run
  bool with_c_interface = false;
  bool with_lanes = false;  // emit NODE_group_step in the C interface
  // `rml_program::apart`: the cells may be apart from the state; only if the program keeps nothing but cells.
  bool cells_apart = false;
  bool externals_apart = false;  // external functions are called as external_symbol(name)
  std::string program_name;      // prefix of the symbols: the node's name
};

// The memory of an instance of the program, in bytes. Segments and queues grow besides.
struct MemoryUse {
  std::uint64_t state = 0;    // bytes allocated for an instance: header, alignment, `kept` and `scratch`
  std::uint64_t kept = 0;     // bytes that are kept from cycle to cycle
  std::uint64_t scratch = 0;  // bytes of temporary memory, shared by all computations of a cycle
};

}  // namespace rml
