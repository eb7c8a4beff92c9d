// The rml_flow table.
#pragma once

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// How counts hang together, with the rows of memories from which queues and units stand.
llvm::Constant* emit_flow(Emission&, std::uint32_t first_queue, std::uint32_t first_unit);

}  // namespace rml::codegen
