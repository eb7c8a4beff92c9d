// Export: a core program as an ONNX model of operator set 17.
//
// Every value is computed at every cycle of the model; what is absent there is chosen away where it is
// used. What a program keeps from cycle to cycle becomes an input with its first value as default, and
// an output for the next run:
//
//     y = 0.0 fby (y + x)       inputs x, y (default 0.0); outputs …, y_next
//
// Parameters are initializers of their names, each its own, which training may move.
#pragma once

#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml::onnx {

struct ExportError {
  Span span;
  std::string message;
};

struct Exported {
  std::string bytes;  // of the model; empty if there are errors
  std::vector<ExportError> errors;
  std::vector<std::pair<std::string, std::string>> states;  // input, output
};

// Whether the operator has a counterpart: others must have been replaced by their definitions.
bool is_exportable(OperatorId);

Exported export_core(const Core&);

}  // namespace rml::onnx
