// Converts the state of a program on demand to named tensors, and back: the memories as of one
// instant (`begins` in the metadata), and everything that came from outside since. All other
// values are computed again (demand/evaluator.h).
//
//   memory    NAME           the value at that instant; absent if it has no value yet, or if the
//                            value is not known then and not needed (`open` in the metadata)
//   input     input NAME     the elements since then, with their cycles under "input NAME at";
//                            likewise "first PATH" of a parameter, and "result NAME" of calls
//                            that may have an effect
//             cycles         one Boolean for each cycle since, all true
#pragma once

#include <string>
#include <vector>

#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

void take_on_demand(const rml_program& program, const void* state, StateTensors& into);

// As restore_state. If more rows are known than the schedule that saved the state knew, they are
// left to the run.
void restore_on_demand(const rml_program& program, void* state, StateFile& from, const BeginningOfState& how,
                       const CyclesOfState& cycles, GivenParameters& given);

}  // namespace rml::rt
