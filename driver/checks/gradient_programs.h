// Makes the programs that a gradient check runs: a node f, and `diff f`, with parameters that stay constant.
//
// Both come from the file's own text with an additional node, which calls f or `diff f`. In the core each float
// parameter is held at its initial value. In `diff f` the step that the optimiser would have made becomes an output. To
// take differences of f, its parameters become inputs. The results of `stop_gradient` become inputs as well, in each
// round of an iteration too (semantics/instantiate/stops_of_rounds.h), because they must not change with the rest; a
// separate program records their values. f32 is computed in f64, unless external nodes take part.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/engines.h"
#include "driver/base/exit_status.h"
#include "semantics/reference/chronogram.h"

namespace rml {

struct GradientSubject {
  std::string name;  // name of the file, for messages and for imports beside it
  std::string text;  // source of the program
  Engine engine = Engine::reference;
  std::vector<std::string> libraries;
};

// A loaded program and the core from which it was made, with inputs and outputs in the same order.
struct GradientProgram {
  std::shared_ptr<const Core> core;
  std::unique_ptr<LoadedProgram> program;
  CallExternal call;                     // calls its external nodes, for the reference engine
  std::vector<std::string> parameters;   // float parameters, by their path within f
  std::vector<std::int32_t> step_ports;  // for each parameter: the output that is its step, or -1
};

struct GradientPrograms {
  std::string node;
  std::vector<ChronogramPort> inputs, outputs;             // the ports of f, as written
  std::vector<std::uint32_t> float_inputs, float_outputs;  // indices in `inputs` and `outputs`
  bool widened = false;                                    // true if f32 is computed in f64
  bool narrow = false;                                     // true if f32 is computed in f32, as written
  // Its inputs are those of f. Its outputs are those of f, parameters, and results of
  // stop_gradient.
  GradientProgram recorded;
  // Inputs: f's, then parameters and results of stop_gradient. Outputs: f's, then steps of its own.
  GradientProgram forward;
  GradientProgram always;     // inputs: f's, then an adjoint for each float output. Outputs: f's, a gradient for each
                              // float input, then steps.
  GradientProgram sometimes;  // inputs and outputs of `always`, but `bp` is an input as well, before the adjoints

  DType computed(DType written) const { return widened && written == DType::f32 ? DType::f64 : written; }
};

// Returns nothing, and reports diagnostics, if the node or its gradient cannot be compiled.
std::optional<GradientPrograms> make_gradient_programs(Session&, const GradientSubject&);

}  // namespace rml
