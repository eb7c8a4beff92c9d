// Moves elements between separate states and a group, in which the same element of all lanes is adjacent.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// `count` elements of `type`, consecutive at the address of each lane. Side by side, element e of lane k is at index e
// times the number of lanes, plus k.
struct ElementsOfLanes {
  llvm::Type* type;
  std::uint64_t bytes;
  std::int64_t count;
  std::vector<IrValue> own;  // one address per lane; their number is a power of two
  IrValue side;
};

void lay_side_by_side(Function&, const ElementsOfLanes&);
void lay_apart(Function&, const ElementsOfLanes&);

}  // namespace rml::codegen
