// The state of a program that runs on demand as named tensors, and back: the memories as of one instant (`begins` in
// the metadata), and what came from outside since. All else is computed again (demand/evaluator.h).
//
//   memory    NAME           what it had at that instant: none if it has no value yet, or if that is not known then and
//                            it is not needed (`open` in the metadata)
//   input     input NAME     the elements that came since, with their cycles under "input NAME at"; in the same way
//                            "first PATH" of a parameter, and "result NAME" of calls that may have an effect
//             cycles         one Boolean for each cycle since, all true
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

void take_on_demand(const rml_program& program, const void* state, StateTensors& into);

// As restore_state. Rows that this knows and a schedule did not are left for the run that goes on.
void restore_on_demand(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
                       const CyclesOfState& cycles, GivenParameters& given);

}  // namespace rml::rt
