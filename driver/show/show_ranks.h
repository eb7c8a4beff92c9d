// What the ranks of a program send each other, before anything runs: of each place where they meet, the messages and
// bytes of a step.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/session.h"
#include "frontend/ast.h"
#include "semantics/core/core.h"

namespace rml {

// Of a core for ranks, made of the program: a line for each sum and broadcast, and one for all of them.
std::string ranks_text(const Session&, const Program&, const Core&, std::uint32_t ranks);

}  // namespace rml
