// Options for reading text formats (docs/manual/data.md).
#pragma once

#include <string>
#include <vector>

namespace rml::rt {

// Meaning of a cell without a value, which is empty or a word such as NA.
enum class Missing {
  error,   // absent if it is empty and its clock is false, otherwise an error
  absent,  // the value is absent; a flag without a column follows from the cells
  nan      // the value is NaN; allowed for inputs of floats
};

struct Reading {
  char separator = ',';  // character between columns
  Missing missing = Missing::error;
  bool skip_bad_rows = false;        // otherwise the first row that is not valid ends the run
  std::vector<std::string> classes;  // classes, as entries NAME=FILE
  std::vector<std::string> times;    // formats of times, as entries NAME=FORMAT
};

}  // namespace rml::rt
