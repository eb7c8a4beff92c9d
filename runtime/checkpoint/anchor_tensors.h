// Converts a state that begins at a cycle (anchor.h) to named tensors, and back into any schedule
// of the program.
//
// The tensors are those of demand_tensors.h. Loading sets all units to that cycle and computes
// from there to the cycle where the state was saved; rows that were already handed out are
// dropped. This schedule may know fewer rows by then than the one that saved; the run then drops
// the remaining old rows later. If it knows more, it keeps them for the run.
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/anchor.h"
#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

void take_from(const Anchor& anchor, const rml_program& program, const void* state, StateTensors& into);

// As restore_state. Sets the cycles and rows of the header to those of this schedule, and
// possibly a fault. An anchor, if given, then begins at the cycle of the file or at a later one.
void restore_from(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
                  const CyclesOfState& cycles, GivenParameters& given, Anchor* anchor);

}  // namespace rml::rt
