// The outputs that a program with units can hand out before the inputs of a cycle arrive, as a straight program over
// the memories of the whole program.
//
// Between two cycles, once a unit has run every instant so far, each of its memories holds its value of the next cycle.
// So an output that depends on memories alone is known from the state, even if units are tasks of a network or
// segmented. The equations of such outputs are lowered a second time, as a program of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lowering/steps/steps.h"

namespace rml::steps {

struct Leader {
  struct Memory {
    CellId cell;    // the memory's cell in the whole program; invalid if the memory is in a queue
    QueueId queue;  // the queue of the whole program whose last element is the memory
  };
  Program program;                     // only the lead of this program is used
  std::vector<std::uint32_t> outputs;  // indexed by output of `program`: the output of the whole program
  // By cell of `program`: its place in the whole program; invalid if the lead does not read it.
  std::vector<Memory> memories;
};

}  // namespace rml::steps

namespace rml {

// A core with the equations of the outputs that need memories only. Memories keep their values.
struct LeadingCore {
  Core core;
  std::vector<std::uint32_t> outputs;  // numbers that the outputs have in the whole program
};
// Extracts the leading outputs of a program with units. Nothing if it has none.
std::optional<LeadingCore> leading_core(const steps::Program& whole);

// `lowered` is the program that was made from the leading core. Returns null if the memories are not up to date between
// two cycles.
std::shared_ptr<const steps::Leader> make_leader(const steps::Program& whole, const LeadingCore&,
                                                 steps::Program lowered);

// One flag per output of a straight program or a program with units: true if the lead hands it out.
std::vector<bool> leading_outputs(const steps::Program&);
// By output: true if it may be known before the inputs of its cycle, but is handed out after them. False for all
// outputs of a program that runs on demand.
std::vector<bool> late_outputs(const steps::Program&);

}  // namespace rml
