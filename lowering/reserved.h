// Names that C, C++ and the headers of C99 have for something else: ports, memories and variables of C are called
// otherwise, in whichever file.
#pragma once

#include <string_view>

namespace rml::c99 {

// Whether it is a word of C or C++, or a type or an object-like macro of C's headers, as the standard or glibc has
// them. A `_` behind a name of a family (`M_PI`, `EDOM`) takes it out of the family.
bool is_reserved(std::string_view name);

// Whether it begins as the names that C leaves to compilers: `_Generic` and `_Atomic` are words since C11, `__x86_64__`
// and
// `__int128` are words or macros of some compilers. No `_` behind such a name makes it another.
bool is_of_implementation(std::string_view name);

}  // namespace rml::c99
