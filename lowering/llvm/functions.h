// exp, log, tanh, … as instructions without calls or branches, so that loops over tensors are
// vectorised; see functions.cc.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>

#include "lowering/llvm/ir_types.h"
#include "lowering/target.h"
#include "semantics/operators/operator.h"

namespace rml::codegen {

enum class Function : std::uint8_t {
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  tanh,
  sigmoid,
  softplus,
  erf,
  sin,
  cos
};

// The function that an operation on floats is, if it is one of them.
std::optional<Function> inlined_function(ScalarOp);

// Of a float or a double.
IrValue expand(llvm::IRBuilder<>&, Function, IrValue x, const Target&, const Numeric&);

// The C library's function of that name for floats or doubles. To be called with nobuiltin, so that
// results are those of the reference engine.
llvm::FunctionCallee c_function(llvm::Module&, const std::string& name, llvm::Type*, unsigned operands);

}  // namespace rml::codegen
