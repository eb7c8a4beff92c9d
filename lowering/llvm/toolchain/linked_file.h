// Reads the symbols of --link files, and copies the files with new names for external functions. This file includes no
// LLVM headers.
//
// Problem: an external node must reach a function of a file that the user named. No other function of the program may
// be reached by its name, or be replaced by it. But a linker resolves a name wherever it finds one. Method: generated
// code calls an external function by a name with a prefix that no C function has. In copies of the objects and
// archives, the function's symbol gets that name. In a shared library, the function is looked up when the program
// starts (bind_shared.h).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace rml {

enum class LinkedKind : std::uint8_t { object, archive, shared };

struct LinkedFile {
  LinkedKind kind = LinkedKind::object;
  std::set<std::string> functions;  // the wanted functions that the file defines and exports
};

// Returns nothing, and an error, for a file without machine code.
std::optional<LinkedFile> read_linked_file(const std::string& path, const std::set<std::string>& wanted,
                                           std::string& error);

// Writes a copy of an object or an archive in which each of the names becomes external_symbol(name), where it is
// defined and where it is used. Returns an error, or an empty string.
std::string copy_renamed(const std::string& path, const std::set<std::string>& names, const std::string& copy);

}  // namespace rml
