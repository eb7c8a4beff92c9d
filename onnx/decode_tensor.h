// The elements of a tensor in the wire format, wherever it keeps them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "onnx/model.h"

namespace rml::onnx {

namespace wire {
class Tensor;
}

// Files beside a model, which are looked for in its folder. A part of one that several tensors name is read once, and
// parts that overlap otherwise are bounded: what is held is a small multiple of the files.
class ExternalTensors {
 public:
  explicit ExternalTensors(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path& folder() const { return folder_; }
  // The elements, frozen. Throws ModelError, which names `place`.
  Tensor read(const wire::Tensor&, const std::string& place, DType dtype, const Shape& shape);

 private:
  // File, offset, length.
  using Part = std::tuple<std::string, std::int64_t, std::int64_t, DType, Shape>;

  std::filesystem::path folder_;
  std::map<Part, Tensor> read_;
  std::map<std::string, std::int64_t> taken_;  // bytes that are held of each file
};

// Frozen. Throws ModelError, which names `place`.
std::variant<Tensor, Texts> decode_tensor(const wire::Tensor&, ExternalTensors&, const std::string& place);

}  // namespace rml::onnx
