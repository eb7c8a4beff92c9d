// Elements of several places, each in a lane.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// So many elements of a type, so many bytes each, one behind the other at the place of each lane; side by side, element
// e of lane k is at e times the lanes, and k.
struct ElementsOfLanes {
  llvm::Type* type;
  std::uint64_t bytes;
  std::int64_t count;
  std::vector<IrValue> own;  // places, a power of two
  IrValue side;
};

void lay_side_by_side(Function&, const ElementsOfLanes&);
void lay_apart(Function&, const ElementsOfLanes&);

}  // namespace rml::codegen
