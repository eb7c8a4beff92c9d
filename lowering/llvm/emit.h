// Code generation: from Steps to LLVM IR, and to machine code in memory or in files.
//
// Only lowering/llvm includes LLVM; this header uses none of its types. A CompiledModule owns one LLVM module (and its
// context) for one program. It defines
//
//   NODE_program           an rml_program table (rmlrt.h) with all its functions and data
//   main                   if requested: calls rml_main(&NODE_program, argc, argv)
//   NODE_init/step/…       the C interface of `--emit lib`, if requested
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

// Something that a target cannot do, and the place in the source that requires it, if known.
struct NotEmitted {
  std::string text;  // message of the error; empty: no error
  Span span = {};
  std::string note = {};
};

// Emits, verifies and optimises. Returns null and sets `error` if LLVM does not know the target, or the target cannot
// run the program. Faults of code generation are internal errors, which are thrown.
std::unique_ptr<CompiledModule> emit(const steps::Program&, const SourceMap&, const EmitOptions&, NotEmitted& error);

}  // namespace rml
