// Names of a C file: readable, unique, and different from keywords and from functions of the C library.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace rml::c99 {

// Names that every file has or may have: functions, a table, and variables of functions.
inline constexpr auto file_functions = std::to_array<std::string_view>({"fail", "messages", "least"});
inline constexpr auto file_variables =
    std::to_array<std::string_view>({"position", "last", "length", "present", "slowest"});

// Macros that are called like functions; C99 has no function beside them.
inline constexpr auto function_macros =
    std::to_array<std::string_view>({"isfinite", "isinf", "isnan", "isnormal", "signbit", "fpclassify", "isgreater",
                                     "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered"});

// The names of one scope. They must not hide names of the scopes around it.
class Names {
 public:
  // Initially taken: keywords, names that the headers declare, and names of the functions that spell operations.
  Names();
  // lstm.cell.h becomes lstm_cell_h, or lstm_cell_h_2 if that is taken.
  std::string unique(std::string_view wanted);
  void take(std::string_view name) { taken_.emplace(name); }
  bool taken(const std::string& name) const;

 private:
  std::set<std::string> taken_;
  std::map<std::string, unsigned> next_;  // indexed by name: the first number that may still be free
};

}  // namespace rml::c99
