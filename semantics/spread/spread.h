// `map` of a node that has memory, parameters or random numbers: what lives in time is spread out over the elements and
// stands outside of the iteration, which has a body without any of it.
//
//   node lp(x, a) -> (y)             y = map lp(xs; a);
//     s = 0.0 fby y;
//     y = s + a * (x - s);           s = [0.0, 0.0, …] fby y;  y = map part(xs, s; a)
//
// Each element has a state of its own, and numbers of its own are drawn for it: a draw is one of as many numbers as all
// elements take. A parameter is one for all elements, as is all that does not differ between them: it is computed once.
#pragma once

#include <functional>
#include <memory>

#include "semantics/simplify/passes.h"
#include "semantics/spread/elements.h"

namespace rml::mapped {

// The program around the iteration, while it is made.
struct Surroundings {
  Core& core;
  ClockTable& clocks;
  std::function<ValueId(const Tensor&, const Shape&)> constant;  // repeated to a shape; invalid: that is too large
  std::function<ValueId(ClockId)> start,
      cycle;             // of a clock: what is true at its first instant, the number of the cycle
  bool is_body = false;  // of another iteration
};

struct Spreading {
  std::shared_ptr<const Core> body;  // inputs: an element of each sequence, then what is fixed
  std::size_t sequences = 0;
  std::int64_t length = 0;
  bool reverse = false;
  std::string name;
};

// Where it stands.
struct SpreadAt {
  ClockId clock;
  Span span;
  InstanceId instance;
  std::vector<ValueId> operands;  // by input of the body; sequences whole
  bool comes_back = false;        // an operand depends on a result within the cycle
};

// The values of the body's outputs, stacked.
std::vector<ValueId> spread(const Spreading&, const SpreadAt&, Surroundings&);

}  // namespace rml::mapped
