// The rml_program table of a program and the functions in it.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

struct ProgramFunctions {
  llvm::Function *init = nullptr, *push = nullptr, *finish = nullptr, *pop = nullptr, *destroy = nullptr;
  llvm::Constant* run = nullptr;      // a function: many cycles at once, where that is asked for and cheaper
  llvm::Constant* lead = nullptr;     // a function, where outputs may be known before the inputs of a cycle
  llvm::Constant* network = nullptr;  // its table, of a network
  llvm::Constant* demand = nullptr;   // … of what runs on demand
};

// All functions behind the table, with internal linkage.
ProgramFunctions emit_program(Emission&);
// NODE_program, exported; once everything that uses scratch has been emitted.
void emit_table(Emission&, const ProgramFunctions&);
// flow.cc: how counts hang together, with the rows of memories from which queues and units stand.
llvm::Constant* emit_flow(Emission&, std::uint32_t first_queue, std::uint32_t first_unit);
// origins.cc: memories by the names that they have in every schedule, in an order of the core.
std::vector<llvm::Constant*> origin_rows(Emission&, const std::vector<std::uint32_t>& row_of_cell,
                                         std::uint32_t first_queue);
// int main(int, char**).
void emit_main(Emission&);

// One cycle of a straight program: absent outputs, the block. Ports are set.
void emit_straight(Body&);
// Cells, cursors and counters as at the first cycle; leaves the buffers of rings and segments.
void emit_initial_values(Body&);
// network.cc: push, pop and the table.
void emit_network(Emission&, ProgramFunctions&);
// lead.cc: what a program hands out before its inputs are there; null: nothing.
llvm::Function* emit_lead(Emission&);
// What computes these outputs: i32 NAME(state, …), a fault. Told by `place_outputs` where they go.
llvm::Function* emit_leading_cycle(Emission&, const llvm::Twine& name, llvm::ArrayRef<llvm::Type*> types,
                                   const std::function<void(Body&, llvm::Function*)>& place_outputs);
// on_demand.cc: all functions of a program that has no schedule.
ProgramFunctions emit_on_demand(Emission&);
IrValue caller_pointer(Body&, IrValue pointers, std::size_t index);
IrValue caller_flag(Body&, IrValue flags, std::size_t index);
// Hands out a row whose operands have been popped.
void emit_row(Body&, IrValue out, IrValue present);
std::string program_symbol(const Emission&, const char* what);
llvm::Constant* site_row(Emission&, Span, const std::string& message);  // table.cc
// A function and its Body, which returns i32.
llvm::Function* straight_function(Emission&, const llvm::Twine& name, llvm::ArrayRef<llvm::Type*> parameters);
Span program_span(const Emission&);

}  // namespace rml::codegen
