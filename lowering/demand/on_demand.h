// Programs for which no static schedule is right: their equations are evaluated where somebody asks for them
// (runtime/demand/evaluator.h).
//
// Control (when, merge, fby, post) is the runtime's. What operators and calls compute has a body: a program without
// memory, whose inputs are what it looks at and whose outputs are values. A value that only one other looks at, whose
// operators all need all that they look at, is computed in the body of that one: both are needed at the same instants.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lowering/steps/steps.h"
#include "semantics/core/core.h"

namespace rml::steps {

struct DemandBody {
  ValueId value;                  // whose body it is: an operator's result, or a call
  std::vector<ValueId> operands;  // its inputs, in order
  std::vector<ValueId> results;   // its outputs, in order
  bool effect = false;            // it may do more than compute
  std::shared_ptr<const Core> core;
  std::shared_ptr<Program> steps;  // lower_bodies
};

// Part of a state: what a memory looks back at, or what cannot be computed again.
struct DemandOrigin {
  ValueId value;  // of a memory the fby
  std::string name;
  bool looks_back = false;
};

struct OnDemand {
  std::vector<DemandBody> bodies;
  std::vector<DemandOrigin> origins;
  std::vector<std::uint32_t> body_of;       // by ValueId: in bodies; UINT32_MAX: none
  std::vector<bool> asked;                  // by ValueId: it is a subject of its own
  std::vector<ValueId> memories;            // fbys
  std::vector<std::uint32_t> cut_of;        // by ValueId: of samples, in Program::cuts
  std::vector<std::uint32_t> cut_of_clock;  // by ClockId
  std::vector<std::uint32_t> knot_site;     // by ValueId: of what may need itself
  std::vector<std::uint32_t> assert_sites;
};

// For a reader (`rmlc show steps`): equations, and in front of each what is computed in its body.
std::string print_on_demand(const Program&);

}  // namespace rml::steps

namespace rml {

// The equations of a core; bodies have their cores, and no steps yet.
steps::Program build_on_demand(std::shared_ptr<const Core>);

}  // namespace rml
