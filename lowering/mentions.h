// How often the values of a program are looked at.
#pragma once

#include <map>
#include <vector>

#include "lowering/steps.h"

namespace rml {

// Calls f(block) for all blocks of a unit that are not inside another.
template <class Unit, class F>
void each_block(Unit& unit, F&& f) {
  f(unit.before);
  f(unit.instant);
  for (auto& pass : unit.passes) {
    f(pass.prologue);
    f(pass.body);
  }
  f(unit.commit);
}

// By ValueId: by how many operands, stores, copies, tests and conditions of queues it is named.
std::vector<std::uint32_t> count_mentions(const steps::Program&);
// The same by what is in this block.
std::map<ValueId, std::uint32_t> count_mentions(const Core&, const steps::Block&);

}  // namespace rml
