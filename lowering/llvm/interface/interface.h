// The functions of the C interface of `--emit lib` (docs/manual/commands.md), with the parameters that headers declare
// (lowering/signature.h).
#pragma once

#include "lowering/llvm/program/program.h"
#include "lowering/signature.h"

namespace rml::codegen {

using c99::input_parameters, c99::output_parameters;
using c99::InterfaceParameter;

// Of the outputs that a straight program knows before its inputs (lowering/steps/find_lead.h).
std::vector<InterfaceParameter> leading_parameters(const steps::Program&);

// Whether a cycle can end in a fault, and whether it draws random numbers: on the safe side.
bool can_fault(const steps::Program&);
bool draws(const steps::Program&);

// NODE_state, which is without rml_header where no cycle can fault or draw.
struct StateStruct {
  std::uint64_t size = 0;
  std::vector<std::uint64_t> outputs;  // where NODE_advance leaves them
  std::uint64_t hash = 0;              // interface_hash
};
// NODE_init, NODE_reset, NODE_step, NODE_run of a straight program, and where all outputs are scalars that are
// present at every cycle, NODE_advance: a step that leaves them in the state. Where outputs lead, NODE_lead.
bool has_advance(const Core&);
StateStruct emit_step_interface(Emission&);
// rml_program::run of a straight program.
llvm::Function* emit_many_cycles(Emission&, llvm::Function* push, llvm::Function* pop);
double executed_instructions(const llvm::Function&);
// NODE_init, NODE_reset, NODE_push, NODE_pop of any other, over the functions of its table.
StateStruct emit_buffered_interface(Emission&, const ProgramFunctions&);

// Bytes of all rings and arrays together per cycle that they hold, and their number.
struct BufferNeeds {
  std::uint64_t bytes_per_cycle = 0, buffers = 0;
};
BufferNeeds buffer_needs(const steps::Program&);

// Of all that callers and object must agree on (stamp.cc): signature, sizes, where the state's parts lie.
std::uint64_t interface_hash(const Emission&, const StateStruct&);
// The second name of NODE_init, which holds the stamp; and NODE_init under it.
std::string stamped_init(const std::string& name, std::uint64_t hash);
void emit_stamped_init(Emission&, std::uint64_t hash);

}  // namespace rml::codegen
