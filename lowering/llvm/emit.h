// Code generation: Steps to LLVM IR, to machine code in memory or in files.
//
// lowering/llvm alone includes LLVM; this header shows none of it. A CompiledModule owns
// one LLVM module (and its context) for one program. It defines
//
//   NODE_program           an rml_program table (rmlrt.h) with everything behind it
//   main                   if asked for: calls rml_main(&NODE_program, argc, argv)
//   NODE_init/step/…       the C interface of `--emit lib`, if asked for
//   NODE_run               straight programs: n cycles in one call, loops visible to the optimiser
//
// in verified IR with debug info that leads to .rml lines.
#pragma once

#include <memory>
#include <string>

#include "frontend/source.h"
#include "lowering/llvm/module/emit_options.h"
#include "lowering/llvm/toolchain/compiled_module.h"
#include "lowering/llvm/toolchain/jit.h"
#include "lowering/steps/steps.h"

namespace rml {

// What a target cannot do, and what in the source asks for it, if that is known.
struct NotEmitted {
  std::string text;  // empty: all is well
  Span span = {};
};

// Emits, verifies and optimises. Not emitted is what asks for a target that LLVM does not know or that cannot run the
// program. A fault of code generation is the compiler's: it throws, as all that follows does.
std::unique_ptr<CompiledModule> emit(const steps::Program&, const SourceMap&, const EmitOptions&, NotEmitted& error);

}  // namespace rml
