// Expressions of the source's variables, for texts that show a program to its author.
//
// `describe` (core.h) is short, for messages. The functions here spell more of an expression, with the
// precedence of the language: `if first then p - 0.1 * dw else p`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

// The right-hand side of the equation of v, cut with "…" where it is deep, so that it has about `most`
// characters at most. Variables of its own instance have no path.
std::string right_side(const Core&, ValueId v, std::size_t most = 80);

// By ValueId: the user's variable, or else the expression. Two values never have the same text.
std::vector<std::string> readable_names(const Core&);

}  // namespace rml
