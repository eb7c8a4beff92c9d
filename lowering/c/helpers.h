// Helper functions, which precede the other functions of a C file. Expressions call them for operations without an
// operator in C, and for operators of C that are undefined for some operands.
//
//   static int32_t add_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
#pragma once

#include <set>
#include <string>

#include "lowering/c/names.h"
#include "semantics/values/type.h"

namespace rml::c99 {

// True if some C file has a helper function of that name.
bool is_helper(const std::string& name);
// True if a C file can declare a function of the user by this name.
bool can_declare_function(const std::string& name);

class Helpers {
 public:
  explicit Helpers(Names& names) : names_(names) {}

  // The name of the helper function for operands of this dtype. The function is added to the file.
  std::string of(const std::string& operation, DType);
  std::string conversion(DType to, DType from);
  // Adds another function with this text. Its text must include the functions that it calls.
  std::string add(const std::string& name, const std::string& text);

  const std::string& text() const { return text_; }

 private:
  Names& names_;
  std::set<std::string> there_;
  std::string text_;
};

}  // namespace rml::c99
