// The programs that a check of gradients runs: a node f, and `diff f`, with parameters that
// stand still.
//
// Both come from the file's own text with a node more, which calls f or `diff f`. In the core
// each float parameter is held at its initial value; in `diff f` the step it would have made
// becomes an output. So that differences can be taken of f, its parameters become inputs, and
// so does what `stop_gradient` yields, in each round of an iteration as well (semantics/instantiate/stops_of_rounds.h),
// which must not change with the rest: their values are recorded by a program of its own. What is f32 is computed in
// f64, unless external nodes take part.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/engines.h"
#include "driver/exit_status.h"
#include "semantics/reference/chronogram.h"

namespace rml {

struct GradientSubject {
  std::string name;  // of the file: for messages, and for imports beside it
  std::string text;  // its source
  Engine engine = Engine::reference;
  std::vector<std::string> libraries;
};

// A loaded program and the core it came from, in the same order of inputs and outputs.
struct GradientProgram {
  std::shared_ptr<const Core> core;
  std::unique_ptr<LoadedProgram> program;
  CallExternal call;                     // its external nodes, for the reference engine
  std::vector<std::string> parameters;   // float ones, by path within f
  std::vector<std::int32_t> step_ports;  // by parameter: the output that is its step, or -1
};

struct GradientPrograms {
  std::string node;
  std::vector<ChronogramPort> inputs, outputs;             // of f, as written
  std::vector<std::uint32_t> float_inputs, float_outputs;  // positions in these
  bool widened = false;                                    // f32 is computed in f64
  bool narrow = false;                                     // f32 is computed in f32
  GradientProgram recorded;                                // inputs: f's. Outputs: f's, parameters, what is stopped.
  GradientProgram forward;    // inputs: f's, then these others. Outputs: f's, then steps of its own.
  GradientProgram always;     // inputs: f's, then an adjoint for each float output.
                              // Outputs: f's, a gradient for each float input, then steps.
  GradientProgram sometimes;  // likewise, but `bp` is an input, before the adjoints

  DType computed(DType written) const { return widened && written == DType::f32 ? DType::f64 : written; }
};

// Nothing, and diagnostics, where the node or its gradient cannot be had.
std::optional<GradientPrograms> make_gradient_programs(Session&, const GradientSubject&);

}  // namespace rml
