// Exports a core program as an ONNX model of operator set 17.
//
// The model computes every value at every cycle. Where a value is absent, its uses select another
// value. A value that the program keeps from cycle to cycle becomes an input, with the first
// value as default, and an output for the next run:
//
//     y = 0.0 fby (y + x)       inputs x, y (default 0.0); outputs …, y_next
//
// Parameters become initializers of the same names. Each has its own initializer, so that it can
// be trained.
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
  std::string bytes;  // the encoded model; empty if there are errors
  std::vector<ExportError> errors;
  std::vector<std::pair<std::string, std::string>> states;  // pairs of an input and an output that form a state
};

// True if the operator has a counterpart in ONNX. Other operators must be replaced by their
// definitions first.
bool is_exportable(OperatorId);

Exported export_core(const Core&);

}  // namespace rml::onnx
