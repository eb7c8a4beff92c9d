// From an object file to a program: object + libraries + librmlrt.a, linked by the system's
// C compiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core.h"

namespace rml {

// Links `object` into `output` (written directly: hand in a temporary name). Missing
// external functions are E0805 at their nodes, anything else that goes wrong E0804.
bool link_executable(const std::filesystem::path& object, const std::vector<std::string>& libraries, bool with_mqtt,
                     const std::filesystem::path& output, const Core& core, Diagnostics& diagnostics);

}  // namespace rml
