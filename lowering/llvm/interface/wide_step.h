// A step of as many states at once as a vector has lanes (lanes/).
#pragma once

#include <cstdint>
#include <string>

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

struct WideStep {
  llvm::Function* scalar;  // form of the step (lanes/scalar_form.h), which the caller erases
  llvm::Function* wide;    // that of lanes (lanes/widen.h)
  std::uint64_t lanes;
  std::uint64_t group_bytes;  // of so many states side by side
};

// Of a step's body (i32 of a state and ports), whose other cycles look at the first `kept` bytes of the state. Throws
// NoLanes.
WideStep emit_wide_step(Emission&, llvm::Function& step, std::uint64_t kept, const std::string& name);

}  // namespace rml::codegen
