// Removes branches on conditions that differ between lanes: both sides run one after the other, each with a mask of the
// lanes that take it.
//
//   if c { A } else { B }  C      =>      if any(c) { A for c }  if any(not c) { B for not c }  C
//
// A phi of both sides becomes a select. Loops remain; all lanes must do the same rounds.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>

#include "lowering/target.h"

namespace rml::codegen {

// The mask of a block: an i1 of the scalar form that is true in the lanes that run the block; no entry: all lanes.
using Masks = llvm::DenseMap<const llvm::BasicBlock*, llvm::Value*>;

// Makes the blocks of a function run in lanes. Throws NoLanes.
Masks converge(llvm::Function&, const Target&);

}  // namespace rml::codegen
