// The elements of a tensor in the wire format, wherever it keeps them.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "onnx/model.h"

namespace rml::onnx {

namespace wire {
class Tensor;
}

// Throws ModelError, which names `place`. Files beside the model are looked for in `folder`.
std::variant<Tensor, Texts> decode_tensor(const wire::Tensor&, const std::filesystem::path& folder,
                                          const std::string& place);

}  // namespace rml::onnx
