// Checks that an imported model may run as a stream: that its outputs stay the same when one axis
// of its input becomes time.
#pragma once

#include <string>

#include "compiler/session.h"
#include "onnx/import.h"

namespace rml {

// Runs `streamed`, the model imported with these options, for a few cycles on random numbers, and
// runs the model on the same numbers as one sequence. Returns an empty text if the outputs agree.
// Otherwise it returns the reason for the user, for example that an operator mixes the steps of
// the sequence.
std::string what_mixes_steps(const onnx::Model&, const onnx::ImportOptions&, const onnx::Imported& streamed,
                             const Resources& resources);

}  // namespace rml
