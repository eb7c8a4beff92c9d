// Names and arguments of a program's functions, as callers use them.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"
#include "lowering/signature.h"

namespace rml::codegen {

Span program_span(const Emission&);
std::string program_symbol(const Emission&, const char* what);
// The address, and the flag (i1), at an index of the arrays that push and pop receive.
IrValue caller_pointer(Function&, IrValue pointers, std::size_t index);
IrValue caller_flag(Function&, IrValue flags, std::size_t index);
// The arguments of `run` and `together` for each parameter. After two other arguments come arrays of addresses: of
// inputs, of their flags, of outputs, of their flags. Each address leads to the elements of all rows.
std::vector<IrValue> caller_arrays(llvm::IRBuilder<>&, const Emission&, llvm::Function&,
                                   const std::vector<c99::InterfaceParameter>&);
// Puts input k into its queues.
void enqueue(Function&, std::size_t k, IrValue pointers, IrValue flags);
// Hands out a row whose operands have been popped.
void emit_row(Function&, IrValue out, IrValue present);

}  // namespace rml::codegen
