// A step of as many states as a vector has lanes (lanes/).
#pragma once

#include <cstdint>
#include <string>

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

struct WideStep {
  llvm::Function* scalar;  // the scalar form of the step (lanes/scalar_form.h), which the caller erases
  llvm::Function* wide;    // the step in lanes (lanes/widen.h)
  std::uint64_t lanes;
  std::uint64_t group_bytes;  // size of a group of that many states
};

// Takes a step's body, which returns i32 and takes a state and ports. Other cycles read only the first `kept` bytes of
// the state. Throws NoLanes.
WideStep emit_wide_step(Emission&, llvm::Function& step, std::uint64_t kept, const std::string& name);

}  // namespace rml::codegen
