// Names that C, C++ and the headers of C99 reserve or define. Generated ports, memories and variables of C avoid them
// in every file.
#pragma once

#include <string_view>

namespace rml::c99 {

// True for a word of C or C++, and for a type or an object-like macro that the standard or glibc defines in C's
// headers. A `_` appended to a name of a family (`M_PI`, `EDOM`) takes it out of the family.
bool is_reserved(std::string_view name);

// True if the name has a prefix that C reserves for compilers. `_Generic` and `_Atomic` are words since C11;
// `__x86_64__` and `__int128` are words or macros of some compilers. Appending `_` does not make such a name safe.
bool is_of_implementation(std::string_view name);

}  // namespace rml::c99
