// Choices between floats, in the form of which x86 has blends.
#pragma once

namespace llvm {
class Module;
}

namespace rml::codegen {

// After all else: what it makes, LLVM's passes would undo.
void make_blends(llvm::Module&);

}  // namespace rml::codegen
