// Programs in memory for debuggers: gdb is told where they lie and finds lines and variables in them.
#pragma once

namespace llvm::orc {
class LLJIT;
}

namespace rml {

// To be called before any code is added.
void show_to_debuggers(llvm::orc::LLJIT&);

}  // namespace rml
