// A state from a cycle on (anchor.h) as named tensors, and back into any schedule of the program.
//
// The tensors are those of demand_tensors.h. Loading puts all units at that cycle and computes from there to where the
// run was; rows that have been handed out are dropped. This schedule may know fewer by then: the run that goes on drops
// the others. It may know more: they are left for it.
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/anchor.h"
#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

void take_from(const Anchor& anchor, const rml_program& program, const void* state, StateTensors& into);

// As restore_state; the header has the cycles and rows of this schedule, and maybe a fault. The anchor, if there is
// one, is that of the file then, or a later one.
void restore_from(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
                  const CyclesOfState& cycles, GivenParameters& given, Anchor* anchor);

}  // namespace rml::rt
