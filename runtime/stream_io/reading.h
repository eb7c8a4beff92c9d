// How CSV is read beyond what a column's type says: what the options ask for (docs/manual/data.md).
#pragma once

#include <string>
#include <vector>

namespace rml::rt {

// What a cell is that has no value: empty, or a word such as NA.
enum class Missing {
  error,   // absent if it is empty and the clock of its input says so, else a mistake
  absent,  // … and an input's flag that is no column says whether it is there
  nan      // NaN where a float is due
};

struct Reading {
  char separator = ',';  // between columns
  Missing missing = Missing::error;
  std::vector<std::string> classes;  // NAME=FILE
  std::vector<std::string> times;    // NAME=FORMAT
};

}  // namespace rml::rt
