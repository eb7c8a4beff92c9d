// Rewrites selects between floats into the form of x86 blends.
#pragma once

namespace llvm {
class Module;
}

namespace rml::codegen {

// Must run last, because LLVM's passes would undo the rewriting.
void make_blends(llvm::Module&);

}  // namespace rml::codegen
