// Functions in front of a C file that its expressions call: what C has no operator for, or one that is not defined
// everywhere.
//
//   static int32_t add_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
#pragma once

#include <set>
#include <string>

#include "lowering/c/names.h"
#include "semantics/values/type.h"

namespace rml::c99 {

// Whether some file has a function of that name in front.
bool is_helper(const std::string& name);
// Whether a file can declare a function of the user by this name.
bool can_declare_function(const std::string& name);

class Helpers {
 public:
  explicit Helpers(Names& names) : names_(names) {}

  // The name of the function for operands of this dtype; from now on the file has it.
  std::string of(const std::string& operation, DType);
  std::string conversion(DType to, DType from);
  // Any other, and those that it calls, which have their text in it.
  std::string add(const std::string& name, const std::string& text);

  const std::string& text() const { return text_; }

 private:
  Names& names_;
  std::set<std::string> there_;
  std::string text_;
};

}  // namespace rml::c99
