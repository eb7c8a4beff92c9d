// A step of several states at once: each scalar of the scalar form is a vector, a lane for each state.
//
// Problem: rows of lanes must be those of separate steps, to the bit, whatever a step consists of. Method: it is not
// written anew. Every instruction of the step is done for all lanes, in the same order, and an order of sums or a fused
// product is what it was. What is the same in all lanes, the rounds of loops, stays as it is.
//
// Memory of the state lies as before with each element followed by those of the other lanes: what was at offset o is at
// o times the lanes. The elements of a port lie a distance apart that is an argument.
#pragma once

#include <llvm/IR/Function.h>

#include "lowering/llvm/lanes/converge.h"

namespace rml::codegen {

// i1 NAME(ptr states, i64 distance, ptr ports…): of a scalar form (state, ports…), of which those that are no addresses
// are read here. True: a lane has what it may not be stepped with others for (lanes::check); then ports may have been
// written, and so may the states be. Throws NoLanes.
llvm::Function* widen(llvm::Function& scalar, const Masks& masks, unsigned lanes, const llvm::Twine& name);

}  // namespace rml::codegen
