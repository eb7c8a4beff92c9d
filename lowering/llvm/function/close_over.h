// Makes a function that was written with values of another function self-contained.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

// Values of other functions that `inner` uses are passed through a context, which is `inner`'s first argument. They are
// stored at the insertion point of `outer`, and loaded in `inner`'s entry block. A variable that is only read is passed
// by value. Returns the address of the context.
IrValue close_over(llvm::Function& inner, llvm::IRBuilder<>& outer);

}  // namespace rml::codegen
