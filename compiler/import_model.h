// ONNX models as source files: what `rmlc import` writes, and what every command takes M.onnx for.
#pragma once

#include <filesystem>
#include <optional>

#include "compiler/pipeline.h"
#include "onnx/import.h"

namespace rml {

bool is_model(const std::filesystem::path& file);  // by its name

// Reports everything that is wrong with the model, E0807, or with the options about it.
// `weights_file`: the name by which the program will load what it needs.
std::optional<onnx::Imported> import_model(Session& session, const std::filesystem::path& file,
                                           const std::string& weights_file);

}  // namespace rml
