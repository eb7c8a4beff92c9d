// Registers code in memory with gdb, so that it finds lines and variables.
#pragma once

namespace llvm::orc {
class LLJIT;
}

namespace rml {

// Registers code with debuggers. Must be called before any code is added.
void show_to_debuggers(llvm::orc::LLJIT&);

}  // namespace rml
