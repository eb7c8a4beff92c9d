// Writes the block of statements of a forward unit.
#pragma once

#include "lowering/steps/program_builder.h"

namespace rml {

void write_forward_unit(ProgramBuilder&, std::uint32_t unit);

}  // namespace rml
