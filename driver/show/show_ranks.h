// Shows the communication of a program for ranks before it runs: for each place where ranks meet, the messages and
// bytes of a step.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/session.h"
#include "frontend/ast.h"
#include "semantics/core/core.h"

namespace rml {

// Takes the core for ranks that was made from the program. One line for each sum and broadcast, and one for the total.
std::string ranks_text(const Session&, const Program&, const Core&, std::uint32_t ranks);

}  // namespace rml
