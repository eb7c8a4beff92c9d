// Whether a model of whose input an axis has become time computes what it computes of whole sequences.
#pragma once

#include <string>

#include "compiler/session.h"
#include "onnx/import.h"

namespace rml {

// Runs `streamed`, the model imported by these options, on a few cycles of random numbers, and the model on
// the same as one sequence. Empty: they agree. Else what to say: operators mix the steps.
std::string what_mixes_steps(const onnx::Model&, const onnx::ImportOptions&, const onnx::Imported& streamed,
                             const Resources& resources);

}  // namespace rml
