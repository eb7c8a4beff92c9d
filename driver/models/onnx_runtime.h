// Calls ONNX Runtime, if it is installed: the reference for `rmlc compare` of imported models.
//
// It is loaded when needed, through its C interface: a table of functions whose order never changes
// (https://onnxruntime.ai/docs/api/c). So its headers are not needed.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "semantics/values/type.h"

namespace rml {

struct OnnxRuntimeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NamedTensor {
  std::string name;
  Tensor value;
};

class OnnxRuntime {
 public:
  // Loads ONNX Runtime from a file; if `library` is empty, from the system's folders. Throws
  // OnnxRuntimeError.
  explicit OnnxRuntime(const std::string& library);
  ~OnnxRuntime();
  std::string version() const;

  // Runs the model (the bytes of its file) once, node by node as it is written, on one thread. `outputs` name the
  // requested values and are filled: their dtypes and shapes must be right. Throws OnnxRuntimeError.
  void run(const std::string& model, const std::vector<NamedTensor>& inputs, std::vector<NamedTensor>& outputs) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rml
