// What is asked of code generation, and what it tells of the state. Without LLVM's headers.
#pragma once

#include <cstdint>
#include <string>

#include "lowering/target.h"

namespace rml {

// By which generated code calls an external function where rmlc links it: no function of C has such a name.
inline std::string external_symbol(const std::string& name) { return "rml_external." + name; }

struct EmitOptions {
  TargetOptions target;
  bool with_main = false;
  bool with_program = true;  // the rml_program table and what it needs
  bool with_run = false;     // rml_program::run
  bool with_c_interface = false;
  bool with_lanes = false;       // NODE_group_step of that interface
  bool cells_apart = false;      // rml_program::apart: of a program of cells alone
  bool externals_apart = false;  // external functions are called as external_symbol(name)
  std::string program_name;      // prefix of the symbols; the node's name
};

// What an instance of the program takes, in bytes; segments and queues grow besides.
struct MemoryUse {
  std::uint64_t state = 0;    // allocated for it: all that follows, a header, and what aligns them
  std::uint64_t kept = 0;     // from cycle to cycle
  std::uint64_t scratch = 0;  // shared by all that is computed, within a cycle
};

}  // namespace rml
