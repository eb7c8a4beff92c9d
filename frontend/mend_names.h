// Handles keywords that are used as declared names: `node main(node: f64)`, `when = x + 1;`,
// `const if = 3;`.
//
// The meaning is certain, because no header, equation, constant or import has a keyword at this
// place. Each such name is reported once, at its first declaration. The tokens that declare or
// use it become identifiers, so that no further errors follow.
#pragma once

#include <vector>

#include "frontend/token.h"

namespace rml {

void mend_names(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
