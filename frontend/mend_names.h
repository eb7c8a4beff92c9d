// Keywords that stand where a name is declared: `node main(node: f64)`, `when = x + 1;`, `const if = 3;`.
//
// What is meant is certain, for no header, equation, constant or import has a keyword there. Each such name is reported
// once, where it is declared first, and the tokens that declare it and use it are made names, so that nothing behind
// them is reported as well.
#pragma once

#include <vector>

#include "frontend/token.h"

namespace rml {

void mend_names(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
