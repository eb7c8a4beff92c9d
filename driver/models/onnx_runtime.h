// ONNX Runtime, where it is installed: what `rmlc compare` holds imported models to.
//
// It is loaded when it is needed, through its C interface: a table of functions whose order never
// changes (https://onnxruntime.ai/docs/api/c), so that no header of it is.
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
  // `library`: the file, or empty for where the system finds it. Throws OnnxRuntimeError.
  explicit OnnxRuntime(const std::string& library);
  ~OnnxRuntime();
  std::string version() const;

  // Runs the model (the bytes of its file) once, node by node as it is written, on one thread. `outputs` say
  // which values are wanted, and are filled: dtypes and shapes must be right. Throws OnnxRuntimeError.
  void run(const std::string& model, const std::vector<NamedTensor>& inputs, std::vector<NamedTensor>& outputs) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rml
