// Versions that users depend on (docs/manual/compatibility.md), without LLVM's headers.
#pragma once

#include <string>

namespace rml {

// Of the C interface. It is raised when a caller's source may have to change, and is part of every header and object.
inline constexpr unsigned c_interface_version = 1;

std::string llvm_version();

}  // namespace rml
