// Counts how often a program uses its values.
#pragma once

#include <map>
#include <vector>

#include "lowering/steps/steps.h"

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

// By ValueId: the number of operands, stores, copies, tests and conditions of queues that name it.
std::vector<std::uint32_t> count_mentions(const steps::Program&);
// The number of mentions of each value in one block.
std::map<ValueId, std::uint32_t> count_mentions(const Core&, const steps::Block&);

}  // namespace rml
