// A step of several states: each scalar of the scalar form becomes a vector, with a lane for each state.
//
// Problem: the rows of lanes must equal those of separate steps, to the bit, for every step. Method: the step is not
// generated anew. Every instruction of the step is done for all lanes, in the same order, so orders of sums and fused
// products stay the same. Values that are equal in all lanes, such as the rounds of loops, stay scalar.
//
// The state keeps its layout, with each element followed by those of the other lanes: an element at offset o moves to o
// times the number of lanes. The distance between the elements of a port is an argument.
#pragma once

#include <llvm/IR/Function.h>

#include "lowering/llvm/lanes/converge.h"

namespace rml::codegen {

// i1 NAME(ptr states, i64 distance, ptr ports…), from a scalar form (state, ports…). Ports that are not addresses are
// loaded here. Returns true if a lane must not be stepped with the others (lanes::check); then the ports and the states
// may have been written. Throws NoLanes.
llvm::Function* widen(llvm::Function& scalar, const Masks& masks, unsigned lanes, const llvm::Twine& name);

}  // namespace rml::codegen
