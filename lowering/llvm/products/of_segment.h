// Emits products over all instants of a segment.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void emit_segment_product(Function&, const steps::SegmentProduct&);

}  // namespace rml::codegen
