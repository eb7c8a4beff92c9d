// How the functions of a program are called: by which names, and with what.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"
#include "lowering/signature.h"

namespace rml::codegen {

Span program_span(const Emission&);
std::string program_symbol(const Emission&, const char* what);
// Of the arrays that push and pop are given: an address, and a flag, i1.
IrValue caller_pointer(Function&, IrValue pointers, std::size_t index);
IrValue caller_flag(Function&, IrValue flags, std::size_t index);
// What `run` and `together` are given of each parameter, of all rows: behind two others, addresses of arrays of inputs,
// of their flags, of outputs, of theirs.
std::vector<IrValue> caller_arrays(llvm::IRBuilder<>&, const Emission&, llvm::Function&,
                                   const std::vector<c99::InterfaceParameter>&);
// Puts input k, as it is handed in, into its queues.
void enqueue(Function&, std::size_t k, IrValue pointers, IrValue flags);
// Hands out a row whose operands have been popped.
void emit_row(Function&, IrValue out, IrValue present);

}  // namespace rml::codegen
