// Emits exp, log, tanh, … as instructions without calls or branches, so that LLVM vectorises loops over tensors; see
// functions.cc. If short code is preferred, each function is emitted once and called.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

#include "lowering/llvm/module/ir_types.h"
#include "lowering/target.h"
#include "semantics/operators/operator.h"

namespace rml::codegen {

// Takes a float or a double, and a row of Effort::elementary or Effort::circular.
IrValue expand(llvm::IRBuilder<>&, const OperatorInfo&, IrValue x, const Target&, const Numeric&);

// Declares the C library's function of that name for floats or doubles. Calls to it need `nobuiltin`, so that results
// are those of the reference engine.
llvm::FunctionCallee c_function(llvm::Module&, const std::string& name, llvm::Type*, unsigned operands);

}  // namespace rml::codegen
