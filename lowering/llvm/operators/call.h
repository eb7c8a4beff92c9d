// Calls of functions outside the generated code: external nodes and kernels of the runtime.
#pragma once

#include <string>
#include <string_view>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Thrown where code for a microcontroller would call a kernel; emit() reports it to the user.
struct NeedsArchive {
  std::string_view operation;  // name of the operator
  std::string operand;         // type of its first operand; of random numbers, that of the result
  std::string_view archive;    // the archive that has the kernel
  std::string note;            // a way to do without it
  Span at;
};

void emit_call(Function&, ValueId, const core::Call&);  // emits a call of an external node
void emit_random(Function&, ValueId, const core::Apply&);
void emit_kernel(Function&, ValueId, const core::Apply&);  // emits a call of a kernel of the runtime
void emit_parameter(Function&, ValueId, ValueId init);

}  // namespace rml::codegen
