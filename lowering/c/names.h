// Names of a C file: readable, unique, no keyword and no function of the C library.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace rml::c99 {

// The names of one scope, which must not hide those of the scopes around it.
class Names {
 public:
  // Taken: keywords, what the headers declare, names of the functions that operations are spelled by.
  Names();
  // lstm.cell.h: lstm_cell_h, or lstm_cell_h_2 where that is taken.
  std::string unique(std::string_view wanted);
  void take(const std::string& name) { taken_.insert(name); }
  bool taken(const std::string& name) const;

 private:
  std::set<std::string> taken_;
};

}  // namespace rml::c99
