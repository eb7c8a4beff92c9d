// The interface to the files of load("file.safetensors", "name"). The driver implements it; name
// resolution calls it once for each `load`.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "frontend/source.h"
#include "semantics/values/type.h"

namespace rml {

struct LoadError {
  bool unreadable = false;  // true: the file cannot be read; false: its contents are wrong
  std::string message;
};

struct TensorFiles {
  virtual ~TensorFiles() = default;
  // `from` is the call that names the file; relative paths begin at the folder of the call's source file.
  virtual std::variant<std::shared_ptr<const Tensor>, LoadError> find(Span from, const std::string& file,
                                                                      const std::string& name) = 0;
};

}  // namespace rml
