// Slips in the headers of nodes that leave no doubt of what is meant: each is reported once, and the tokens are made
// those of the header that was meant, so that everything behind it is read as its equations.
//
// A node that is declared as elsewhere (`def f(x)`), `returns` for `->`, a `;` between parameters, a separator behind
// the last one. Headers whose parentheses are never closed are left to the parser.
#pragma once

#include <vector>

#include "frontend/token.h"

namespace rml {

void mend_headers(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
