// --key NAME[:TYPE]: which column says whose row it is, and what a run with keys cannot do.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

struct KeyColumn {
  std::string name;
  bool is_text = true;           // the values are numbers of keys
  std::uint8_t dtype = RML_U32;  // … else they are of this type
  rml_port port() const { return {name.c_str(), "base", dtype, 1, 0, 0, nullptr, 1}; }
};

// Throws Failure with status 2 for a wrong name or type.
KeyColumn key_column(const rml_program& program, const std::string& argument);

// Throws Failure with status 2 where the program or an option goes with no keys; it says why.
void require_keyable(const rml_program& program, const Options& options);

}  // namespace rml::rt
