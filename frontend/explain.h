// The explanation page of a diagnostic (`rmlc explain E0301`): what it means, a wrong
// example and its mend. Pages are Markdown, explain/CODE.md, embedded in the binary.
#pragma once

#include <optional>
#include <string_view>

#include "frontend/diagnostic.h"

namespace rml {

std::string_view explain(Code code);
// The code of that name, in either case ("E0301", "e0301").
std::optional<Code> code_from_name(std::string_view name);

}  // namespace rml
