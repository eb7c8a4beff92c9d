// exp, log, tanh, … as instructions without calls or branches, so that loops over tensors are
// vectorised; see functions.cc. Where size comes first a function's instructions are there once, and called.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

#include "lowering/llvm/module/ir_types.h"
#include "lowering/target.h"
#include "semantics/operators/operator.h"

namespace rml::codegen {

// Of a float or a double, a row of Effort::elementary or Effort::circular.
IrValue expand(llvm::IRBuilder<>&, const OperatorInfo&, IrValue x, const Target&, const Numeric&);

// The C library's function of that name for floats or doubles. To be called with nobuiltin, so that
// results are those of the reference engine.
llvm::FunctionCallee c_function(llvm::Module&, const std::string& name, llvm::Type*, unsigned operands);

}  // namespace rml::codegen
