// Checks of single values on command lines: each returns the error in a text, or an empty text if
// there is none.
#pragma once

#include <cstdint>
#include <string>

namespace rml::rt {

// What is wrong with a name that an option gives. An option that is given an empty text (a variable of
// a shell that is not set) would count as not given.
std::string complaint_of_name(const std::string& name);
// The error in a number of cycles or rows, or in a seed: it must not be negative or too large for
// its type.
std::string complaint_of_count(const std::string& text);
std::string complaint_of_seed(const std::string& text);
// The error in a count that must be at least 1.
std::string complaint_of_positive(const std::string& text);
// The error in the argument of --save-every: a number of cycles, or a duration.
std::string complaint_of_save_every(const std::string& text);
// The error in a character between the columns of CSV.
std::string complaint_of_delimiter(const std::string& text);

}  // namespace rml::rt
