// What a program with units knows before the inputs of a cycle: a straight program over the memories of this one.
//
// Between two cycles a memory holds the value that it has in the next one, in whichever unit it lies, as soon as that
// unit has run every instant so far. So an output that needs memories and nothing else is known from the state, be the
// units tasks of a network or in part segments: its equations are lowered once more, for themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lowering/steps/steps.h"

namespace rml::steps {

struct Leader {
  struct Memory {
    CellId cell;    // of the whole; or
    QueueId queue;  // … its last element
  };
  Program program;                     // the lead of it is what counts
  std::vector<std::uint32_t> outputs;  // by output: which one of the whole
  std::vector<Memory> memories;        // by cell: where the whole keeps it; neither where the lead does not look
};

}  // namespace rml::steps

namespace rml {

// The equations of the outputs that need memories only. Memories stay what they are.
struct LeadingCore {
  Core core;
  std::vector<std::uint32_t> outputs;  // of the whole
};
// Of a program with units; nothing where no output is so.
std::optional<LeadingCore> leading_core(const steps::Program& whole);

// `lowered` is what became of the core. Null: the memories are not there in time.
std::shared_ptr<const steps::Leader> make_leader(const steps::Program& whole, const LeadingCore&,
                                                 steps::Program lowered);

// By output of a program, straight or with units: whether its lead hands it out.
std::vector<bool> leading_outputs(const steps::Program&);
// By output: whether it may be known before the inputs of its cycle, but is handed out after them. None of a program on
// demand is so.
std::vector<bool> late_outputs(const steps::Program&);

}  // namespace rml
