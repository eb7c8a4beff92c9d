// Branches on what differs between lanes become straight lines: both sides one behind the other, each for the lanes
// that would take it.
//
//   if c { A } else { B }  C      =>      if any(c) { A for c }  if any(not c) { B for not c }  C
//
// What a side computes for the rest is chosen: a phi becomes a select. Loops stay, if all lanes do the same rounds.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>

#include "lowering/target.h"

namespace rml::codegen {

// The lanes that a block is for: an i1 of the scalar form; none: all of them.
using Masks = llvm::DenseMap<const llvm::BasicBlock*, llvm::Value*>;

// Throws NoLanes.
Masks converge(llvm::Function&, const Target&);

}  // namespace rml::codegen
