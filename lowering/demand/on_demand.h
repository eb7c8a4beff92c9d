// Programs for which no static schedule is right: the runtime evaluates their equations when a value is requested
// (runtime/demand/evaluator.h).
//
// The runtime handles control (when, merge, fby, post). Each operator and call has a body: a program without memory,
// whose inputs are the operands and whose outputs are values. A value with a single user is computed in the user's
// body, if the operators there need all their operands: then both are needed at the same instants.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lowering/steps/steps.h"
#include "semantics/core/core.h"

namespace rml::steps {

struct DemandBody {
  ValueId value;                  // an operator's result, or a call
  std::vector<ValueId> operands;  // the inputs of the body, in order
  std::vector<ValueId> results;   // the outputs of the body, in order
  bool effect = false;            // computing the body may have effects besides its results
  std::shared_ptr<const Core> core;
  std::shared_ptr<Program> steps;  // the body as a straight program; set by lower_bodies
};

// A part of a state: the values that a memory may still read, or results that cannot be computed again.
struct DemandOrigin {
  ValueId value;  // the value; for a memory, the fby
  std::string name;
  bool looks_back = false;
};

struct OnDemand {
  std::vector<DemandBody> bodies;
  std::vector<DemandOrigin> origins;
  std::vector<std::uint32_t> body_of;       // indexed by ValueId: index in `bodies`; UINT32_MAX: no body computes it
  std::vector<bool> asked;                  // one per ValueId: true if other equations request it as a value of its own
  std::vector<ValueId> memories;            // the fby equations, whose values later instants read
  std::vector<std::uint32_t> cut_of;        // indexed by ValueId of a sample: index in Program::cuts
  std::vector<std::uint32_t> cut_of_clock;  // indexed by ClockId: index in Program::cuts
  std::vector<std::uint32_t> knot_site;     // indexed by ValueId: the site of a value that may need itself
  std::vector<std::uint32_t> assert_sites;
};

// The text for readers (`rmlc show steps`): the equations, each preceded by the values computed in its body.
std::string print_on_demand(const Program&);

}  // namespace rml::steps

namespace rml {

// Makes the equations of a core. The bodies have cores, but no steps yet.
steps::Program build_on_demand(std::shared_ptr<const Core>);

}  // namespace rml
