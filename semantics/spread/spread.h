// Expands a `map` whose node has memory, parameters or random draws: these move out of the
// iteration as tensors over all elements, and the remaining body has none of them.
//
//   node lp(x, a) -> (y)             y = map lp(xs; a);
//     s = 0.0 fby y;
//     y = s + a * (x - s);           s = [0.0, 0.0, …] fby y;  y = map part(xs, s; a)
//
// Each element has its own state and its own random numbers: one draw yields the numbers for all
// elements. A parameter is shared by all elements. Any value that is the same for all elements is
// computed once.
#pragma once

#include <functional>
#include <memory>

#include "semantics/simplify/passes.h"
#include "semantics/spread/elements.h"

namespace rml::mapped {

// The program around the iteration, during its construction.
struct Surroundings {
  Core& core;
  ClockTable& clocks;
  // Yields a constant, broadcast to a shape; invalid if it would be too large.
  std::function<ValueId(const Tensor&, const Shape&)> constant;
  std::function<ValueId(ClockId)> start,
      cycle;             // start(c): true at the first instant of clock c; cycle(c): number of the cycle
  bool is_body = false;  // true if the program is itself the body of another iteration
};

struct Spreading {
  std::shared_ptr<const Core> body;  // the body; its inputs are an element of each sequence, then the fixed operands
  std::size_t sequences = 0;
  std::int64_t length = 0;
  bool reverse = false;
  std::string name;
};

// Clock, place and operands of the map.
struct SpreadAt {
  ClockId clock;
  Span span;
  InstanceId instance;
  std::vector<ValueId> operands;  // one per input of the body; a sequence is given as a whole
  bool comes_back = false;        // an operand depends on a result within the cycle
};

// The values of the body's outputs, stacked.
std::vector<ValueId> spread(const Spreading&, const SpreadAt&, Surroundings&);

}  // namespace rml::mapped
