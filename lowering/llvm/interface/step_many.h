// NODE_step_many of a library with lanes: steps separate states in vector lanes.
//
// Problem: lanes need the states of a group side by side, but a caller that keeps states separately has each at its own
// address. Method: the function copies the parts that a step reads, for as many states as there are lanes, into a group
// of its own, steps the group and copies the results back. If the lanes may not be stepped together, nothing is copied
// back and each state is stepped alone. The last states, which do not fill a group, are stepped alone as well.
//
// The rows of a run with keys, one per key, are stepped in the same way.
#pragma once

#include <vector>

#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/interface/pieces.h"
#include "lowering/llvm/interface/wide_step.h"

namespace rml::codegen {

struct StepInLanes {
  const WideStep& in;
  llvm::Function& step;  // the step of one state: takes the state and ports, returns an i32
  const std::vector<InterfaceParameter>& ports;
  const std::vector<Piece>& pieces;
};

// i32 NODE_step_many.body(ptr states, i64 n, ptr ports…): returns the fault of the first state that has one. Null if it
// would be slower than separate steps, or would need much of the stack.
llvm::Function* emit_step_many(Emission&, const StepInLanes&);

// Emits rml_program::together. Null for the same reasons, and if a step reads a part of the state that is in no piece.
llvm::Function* emit_step_together(Emission&, const StepInLanes&);

}  // namespace rml::codegen
