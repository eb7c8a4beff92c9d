// The table of origins.
#pragma once

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// Memories by the names that they have in every schedule, in an order of the core.
std::vector<llvm::Constant*> origin_rows(Emission&, const std::vector<std::uint32_t>& row_of_cell,
                                         std::uint32_t first_queue);

}  // namespace rml::codegen
