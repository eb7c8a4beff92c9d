// Decodes the elements of a tensor of the wire format, wherever they are stored.
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

// Reads tensors from files in the folder of the model. A part of a file that several tensors name
// is read once. The memory for overlapping parts is bounded by a small multiple of the file
// sizes.
class ExternalTensors {
 public:
  explicit ExternalTensors(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path& folder() const { return folder_; }
  // Returns the elements, frozen. Throws ModelError with `place`.
  Tensor read(const wire::Tensor&, const std::string& place, DType dtype, const Shape& shape);

 private:
  // File name, offset and length in bytes, dtype, shape.
  using Part = std::tuple<std::string, std::int64_t, std::int64_t, DType, Shape>;

  std::filesystem::path folder_;
  std::map<Part, Tensor> read_;
  std::map<std::string, std::int64_t> taken_;  // number of bytes of each file that are held in memory
};

// Returns a frozen tensor, or texts. Throws ModelError with `place`.
std::variant<Tensor, Texts> decode_tensor(const wire::Tensor&, ExternalTensors&, const std::string& place);

}  // namespace rml::onnx
