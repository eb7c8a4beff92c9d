// External nodes, given in memory or in shared libraries (`--link`), for the reference engine.
//
// An external node is a C function `void NAME(inputs…, outputs…)`: scalar inputs by value
// (bool as uint8_t), tensor inputs as const pointers to their row-major elements, outputs as
// pointers to elements that the function fills. Compiled programs are linked against the
// same functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowering/llvm/emit.h"
#include "semantics/core/core.h"
#include "semantics/reference/interpret.h"

namespace rml {

// Opens the libraries and finds every external node of the core: as `given`, or in them, in order. Nothing,
// and a text that names the node and the libraries searched, if that fails. The libraries
// stay open as long as the returned function lives.
std::optional<CallExternal> load_externals(const Core& core, const FindFunction& given,
                                           const std::vector<std::string>& libraries, std::string& error);

}  // namespace rml
