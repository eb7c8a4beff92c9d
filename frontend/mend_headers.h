// Corrects mistakes in node headers whose meaning is certain. Each mistake is reported once, and
// its tokens are replaced by those of the intended header, so that the following text is parsed
// as the equations of the node.
//
// The mistakes are: a node declared with a foreign keyword (`def f(x)`), `returns` for `->`, `;`
// between parameters, and a separator after the last parameter. A header with an unclosed
// parenthesis is left to the parser.
#pragma once

#include <vector>

#include "frontend/token.h"

namespace rml {

void mend_headers(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
