// NODE_step_many of a library with lanes: states that lie apart are stepped in vector lanes as well.
//
// Problem: the states of a group lie side by side, but whoever has each where he wants it has them apart. Method: what
// a step looks at of so many states as there are lanes is laid side by side in a group of the function's own, which is
// stepped as any other one, and laid back. Where lanes may not be stepped together, nothing is laid back, and each
// state is stepped for itself; so are the last ones, which fill no group.
//
// The rows of a run with keys, each of another one, are stepped so as well.
#pragma once

#include <vector>

#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/interface/pieces.h"
#include "lowering/llvm/interface/wide_step.h"

namespace rml::codegen {

struct StepInLanes {
  const WideStep& in;
  llvm::Function& step;  // i32 of a state and ports
  const std::vector<InterfaceParameter>& ports;
  const std::vector<Piece>& pieces;
};

// i32 NODE_step_many.body(ptr states, i64 n, ptr ports…): the fault of the first that has one. Null where it would take
// longer than to step them one by one, or much of the stack.
llvm::Function* emit_step_many(Emission&, const StepInLanes&);

// rml_program::together, or null likewise, and where a step looks at what is in no piece.
llvm::Function* emit_step_together(Emission&, const StepInLanes&);

}  // namespace rml::codegen
