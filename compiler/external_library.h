// Finds the functions of external nodes. A function is either given in memory (Session::foreign)
// or defined by a file of `--link`.
//
// No other place is searched, in no way of building: neither the C library nor the runtime nor
// any other part of the program. A source names its external nodes, and the user names the files
// that may define them.
//
// An external node is a C function `void NAME(inputs…, outputs…)`. Scalar inputs are passed by
// value (bool as uint8_t) and tensor inputs as const pointers to their row-major elements.
// Outputs are pointers to elements that the function fills. Compiled programs are linked against
// the same functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/session.h"
#include "lowering/llvm/emit.h"
#include "lowering/llvm/toolchain/linked_file.h"
#include "semantics/core/core.h"
#include "semantics/reference/interpret.h"

namespace rml {

struct ExternalOrigin {
  std::string symbol;
  void* given = nullptr;  // address of the function, if it is in memory; null: the file defines it
  std::string file;
};

struct FileOfLink {
  std::string path;
  std::optional<LinkedKind> kind;  // kind of the file; none: it is not machine code, but for example a linker script
};

struct FoundExternals {
  std::vector<ExternalOrigin> functions;
  std::vector<FileOfLink> files;  // files in the order of the command line
};

// Names that the user links later, if rmlc itself links nothing (--external).
struct LinkedLater {
  bool possible = false;
  std::vector<std::string> names;
};

// Finds one origin for each name that is not linked later: the given function, or else the first
// file that defines it. Reports E0805 for every function without an origin, and returns nothing
// if there is one.
std::optional<FoundExternals> find_externals(Session& session, const Core& core, const std::vector<std::string>& files,
                                             const LinkedLater& later = {});

// Finds every external node of the core for the reference engine: among the `given` functions, or
// in the libraries in their order. The libraries remain open as long as the returned function
// lives. On failure it returns nothing and sets `error` to a text that names the node and the
// searched libraries.
std::optional<CallExternal> load_externals(const Core& core, const FindFunction& given,
                                           const std::vector<std::string>& libraries, std::string& error);

}  // namespace rml
