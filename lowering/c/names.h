// Names of a C file: readable, unique, no keyword and no function of the C library.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace rml::c99 {

// What every file has or may have, under these names: functions, a table, and variables of functions.
inline constexpr auto file_functions = std::to_array<std::string_view>({"fail", "messages", "least"});
inline constexpr auto file_variables =
    std::to_array<std::string_view>({"position", "last", "length", "present", "slowest"});

// Macros that are called as functions are; C99 has no function beside them.
inline constexpr auto function_macros =
    std::to_array<std::string_view>({"isfinite", "isinf", "isnan", "isnormal", "signbit", "fpclassify", "isgreater",
                                     "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered"});

// The names of one scope, which must not hide those of the scopes around it.
class Names {
 public:
  // Taken: keywords, what the headers declare, names of the functions that operations are spelled by.
  Names();
  // lstm.cell.h: lstm_cell_h, or lstm_cell_h_2 where that is taken.
  std::string unique(std::string_view wanted);
  void take(std::string_view name) { taken_.emplace(name); }
  bool taken(const std::string& name) const;

 private:
  std::set<std::string> taken_;
  std::map<std::string, unsigned> next_;  // of a name: the number from which on there may be one left
};

}  // namespace rml::c99
