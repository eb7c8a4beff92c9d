// The option --key NAME[:TYPE]: the column that holds the key of each row. Refuses programs and
// options that cannot be combined with keys.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/rmlrt.h"
#include "runtime/options/options.h"

namespace rml::rt {

struct KeyColumn {
  std::string name;
  bool is_text = true;           // true if keys are texts; the port then has their numbers
  std::uint8_t dtype = RML_U32;  // type of the port: that of the values, or of the numbers
  rml_port port() const { return {name.c_str(), "base", dtype, 1, 0, 0, nullptr, 1}; }
};

// Parses the argument of --key. Throws Failure with status 2 for an unknown name or type.
KeyColumn key_column(const rml_program& program, const std::string& argument);

// Throws Failure with status 2 if the program, or another option, cannot be combined with keys;
// the message gives the reason.
void require_keyable(const rml_program& program, const Options& options);

}  // namespace rml::rt
