// What files of --link define, and copies of them in which external functions have names of their own. Without LLVM's
// headers.
//
// Problem: an external node must reach a function of a file that the user named, and no other function of the program
// may be reached by its name, or be replaced by it. A linker resolves a name wherever it finds one.
// Method: generated code calls an external function by a name with a prefix that no C function has. The function's
// symbol gets that name in copies of the objects and archives; in a shared library it is looked up when the program
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
  std::set<std::string> functions;  // the wanted names of functions that it defines for others
};

// Nothing and an error for a file that holds no machine code.
std::optional<LinkedFile> read_linked_file(const std::string& path, const std::set<std::string>& wanted,
                                           std::string& error);

// Writes a copy of an object or an archive in which each of the names is external_symbol(name), where it is defined and
// where it is used. Empty, or what went wrong.
std::string copy_renamed(const std::string& path, const std::set<std::string>& names, const std::string& copy);

}  // namespace rml
