// Where the functions of external nodes come from: given in memory (Session::foreign), or defined by a file of
// `--link`.
//
// A source names its external nodes, and the user names the files that they may reach. So the origin of a function
// decides, in every way of building, and no list of names: the C library, the runtime and everything else that a
// program contains are never searched.
//
// An external node is a C function `void NAME(inputs…, outputs…)`: scalar inputs by value
// (bool as uint8_t), tensor inputs as const pointers to their row-major elements, outputs as
// pointers to elements that the function fills. Compiled programs are linked against the
// same functions.
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
  void* given = nullptr;  // null: the file defines the function
  std::string file;
};

struct FileOfLink {
  std::string path;
  std::optional<LinkedKind> kind;  // none: it holds no machine code; a text for the linker, say
};

struct FoundExternals {
  std::vector<ExternalOrigin> functions;
  std::vector<FileOfLink> files;  // in their order
};

// Names that the user links later, where rmlc links nothing (--external).
struct LinkedLater {
  bool possible = false;
  std::vector<std::string> names;
};

// One origin for each name that is not linked later: the given function, or else the first of the files that defines
// it. Reports E0805 for every other function, and returns nothing if there is one.
std::optional<FoundExternals> find_externals(Session& session, const Core& core, const std::vector<std::string>& files,
                                             const LinkedLater& later = {});

// For the reference engine: opens the libraries and finds every external node of the core: as `given`, or in them, in
// order. Nothing, and a text that names the node and the libraries searched, if that fails. The libraries stay open as
// long as the returned function lives.
std::optional<CallExternal> load_externals(const Core& core, const FindFunction& given,
                                           const std::vector<std::string>& libraries, std::string& error);

}  // namespace rml
