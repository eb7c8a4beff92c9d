// Emits the rml_flow table, which says which units put elements into queues and which take them.
#pragma once

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// Which units push to and pop from which queues. Rows of memories from `first_queue` and `first_unit` on describe the
// queues and units.
llvm::Constant* emit_flow(Emission&, std::uint32_t first_queue, std::uint32_t first_unit);

}  // namespace rml::codegen
