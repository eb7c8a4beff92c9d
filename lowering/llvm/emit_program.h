// The rml_program table of a program and the functions in it.
#pragma once

#include "lowering/llvm/body.h"

namespace rml::codegen {

struct ProgramFunctions {
  llvm::Function *init = nullptr, *push = nullptr, *finish = nullptr, *pop = nullptr, *destroy = nullptr;
};

// All functions behind the table, with internal linkage.
ProgramFunctions emit_program(Emission&);
// NODE_program, exported; once everything that uses scratch has been emitted.
void emit_table(Emission&, const ProgramFunctions&);
// int main(int, char**).
void emit_main(Emission&);

// One cycle of a straight program: absent outputs, the block. Ports are set.
void emit_straight(Body&);
// Cells, cursors and counters as at the first cycle; leaves the buffers of rings and segments.
void emit_initial_values(Body&);
// A function and its Body, which returns i32.
llvm::Function* straight_function(Emission&, const llvm::Twine& name, llvm::ArrayRef<llvm::Type*> parameters);
Span program_span(const Emission&);

}  // namespace rml::codegen
