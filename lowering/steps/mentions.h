// Counts how often a program uses its values.
#pragma once

#include <map>
#include <vector>

#include "lowering/steps/steps.h"
#include "semantics/values/overloaded.h"

namespace rml {

// Calls f(block) for all top-level blocks of a unit.
template <class Unit, class F>
void each_block(Unit& unit, F&& f) {
  f(unit.before);
  f(unit.instant);
  for (auto& sweep : unit.sweeps) {
    f(sweep.prologue);
    f(sweep.body);
  }
  f(unit.commit);
}

// Calls f with every statement of a block, nested ones included.
template <class Block, class F>
void each_statement(Block& block, const F& f) {
  for (auto& s : block.statements) {
    f(s);
    if (auto* b = std::get_if<steps::Branch>(&s)) each_statement(*b->then_block, f), each_statement(*b->else_block, f);
  }
}

// How a statement uses a cell.
enum class CellUse : std::uint8_t { reads, writes };

// Calls f(cell, use) for each cell that the statement names. The statements within a branch are statements of their
// own.
template <class F>
void each_cell(const steps::Statement& statement, const F& f) {
  std::visit(Overloaded{
                 [&](const steps::LoadCell& s) { f(s.cell, CellUse::reads); },
                 [&](const steps::StoreCell& s) { f(s.cell, CellUse::writes); },
                 [&](const steps::MoveCell& s) {
                   f(s.to, CellUse::writes);
                   f(s.from, CellUse::reads);
                 },
                 [&](const steps::SideCell& s) { f(s.cell, CellUse::reads); },
                 [&](const steps::SegmentProduct& s) {
                   if (s.sum.valid()) f(s.sum, CellUse::writes);
                   if (s.onto.valid()) f(s.onto, CellUse::writes);
                 },
                 [](const steps::Branch&) {},
                 [](const steps::Compute&) {},
                 [](const steps::Copy&) {},
                 [](const steps::LoadArray&) {},
                 [](const steps::StoreArray&) {},
                 [](const steps::Push&) {},
                 [](const steps::LoadInput&) {},
                 [](const steps::StoreOutput&) {},
                 [](const steps::Expect&) {},
                 [](const steps::Assert&) {},
                 [](const steps::MarkLast&) {},
             },
             statement);
}

// By ValueId: the number of operands, stores, copies, tests and conditions of queues that name it.
std::vector<std::uint32_t> count_mentions(const steps::Program&);
// The number of mentions of each value in one block.
std::map<ValueId, std::uint32_t> count_mentions(const Core&, const steps::Block&);

}  // namespace rml
