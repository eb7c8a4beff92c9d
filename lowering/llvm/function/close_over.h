// A function that was written into the middle of another one, with its values, made to stand on its own.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

// The values of other functions that `inner` mentions go through a context, which is `inner`'s first argument: they are
// put there where `outer` stands, and taken out in `inner`'s entry block. Of a variable that is only read a
// copy goes. Returns the address of the context.
IrValue close_over(llvm::Function& inner, llvm::IRBuilder<>& outer);

}  // namespace rml::codegen
