// The table of origins, by which a saved state can be loaded into a program with another schedule.
#pragma once

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// Lists memories in an order of the core, by names that are the same in every schedule.
std::vector<llvm::Constant*> origin_rows(Emission&, const std::vector<std::uint32_t>& row_of_cell,
                                         std::uint32_t first_queue);

}  // namespace rml::codegen
