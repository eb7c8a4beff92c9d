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

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/source.h"
#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

struct EmitOptions {
  TargetOptions target;
  bool with_main = false;
  bool with_program = true;  // the rml_program table and what it needs
  bool with_run = false;     // rml_program::run
  bool with_c_interface = false;
  std::string program_name;  // prefix of the symbols; the node's name
};

// What an instance of the program takes, in bytes; segments and queues grow besides.
struct MemoryUse {
  std::uint64_t state = 0;    // allocated for it: all that follows, a header, and what aligns them
  std::uint64_t kept = 0;     // from cycle to cycle
  std::uint64_t scratch = 0;  // shared by all that is computed, within a cycle
};

class CompiledModule {
 public:
  ~CompiledModule();
  CompiledModule(CompiledModule&&) noexcept;
  MemoryUse memory() const;
  struct State;
  explicit CompiledModule(std::unique_ptr<State>);
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Emits, verifies and optimises. The error is for targets that LLVM does not know or that cannot run the program;
// empty on success. A fault of code generation is the compiler's: it throws, as all that follows does.
std::unique_ptr<CompiledModule> emit(const steps::Program&, const SourceMap&, const EmitOptions&, std::string& error);

enum class FileKind : std::uint8_t { object, assembly, llvm_text, bitcode };
// The module as a file's bytes.
std::string generate(CompiledModule&, FileKind);

// The C header that goes with the C interface (plain C99).
std::string c_header(const steps::Program&, const EmitOptions&);

// Finds the function of a name; null: there is none.
using FindFunction = std::function<void*(const std::string& name)>;

// What code in memory is linked with: an object or an archive, or else what finds functions in memory.
struct Linked {
  std::string file;
  FindFunction find = nullptr;
};

// Compiles in memory (ORC) and returns the address of a symbol, e.g. NODE_program; the code lives as long as the Jit.
// What it calls is looked for in the order of the list, and nowhere else.
class Jit {
 public:
  static std::unique_ptr<Jit> create(std::unique_ptr<CompiledModule>, std::vector<Linked>, std::string& error);
  ~Jit();
  void* symbol(const std::string& name, std::string& error);

 private:
  struct State;
  explicit Jit(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace rml
