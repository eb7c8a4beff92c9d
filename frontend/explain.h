// The explanation page of a diagnostic (`rmlc explain E0301`): its meaning, a wrong example and
// the corrected program. The pages are Markdown files, explain/CODE.md, embedded in the binary.
#pragma once

#include <optional>
#include <string_view>

#include "frontend/diagnostic.h"

namespace rml {

std::string_view explain(Code code);
// Returns the code with that name, in upper or lower case ("E0301", "e0301").
std::optional<Code> code_from_name(std::string_view name);

}  // namespace rml
