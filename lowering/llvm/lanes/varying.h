// Which values of a scalar form differ between lanes.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>

namespace rml::codegen {

// What is read of a state, of a port or of a variable differs, and all that is computed of it. What depends on a branch
// that differs is found once that is a choice (converge.h).
llvm::DenseSet<const llvm::Value*> varying_values(const llvm::Function&);

}  // namespace rml::codegen
