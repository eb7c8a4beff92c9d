// Versions that users depend on (docs/manual/compatibility.md). This file includes no LLVM headers.
#pragma once

#include <string>

namespace rml {

// The version of the C interface. It is raised when a caller's source may have to change, and is part of every header
// and object.
inline constexpr unsigned c_interface_version = 1;

std::string llvm_version();

}  // namespace rml
