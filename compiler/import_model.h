// Imports ONNX models as source text: for `rmlc import`, and for every command that is given a
// file M.onnx.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compiler/session.h"
#include "onnx/import.h"

namespace rml {

bool is_model(const std::filesystem::path& file);  // decided by the file's extension

// Reports E0807 for each error in the model and E0902 for a wrong option. `weights_file` is the
// name from which the program will load its weights.
std::optional<onnx::Imported> import_model(Session& session, const std::filesystem::path& file,
                                           const std::string& weights_file);

// Registers the model's weights among the session's files, where the program's `load` calls find
// them.
void give_weights(LoadedFiles&, const onnx::Imported&);

}  // namespace rml
