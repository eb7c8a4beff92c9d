// What load("file.safetensors", "name") reads. Files belong to the driver: it gives the program
// this view of them, and resolving names asks it once for every load it meets.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "frontend/source.h"
#include "semantics/values/type.h"

namespace rml {

struct LoadError {
  bool unreadable = false;  // the file as such; else what is in it
  std::string message;
};

struct TensorFiles {
  virtual ~TensorFiles() = default;
  // `from`: the call, whose source file says where a relative path begins.
  virtual std::variant<std::shared_ptr<const Tensor>, LoadError> find(Span from, const std::string& file,
                                                                      const std::string& name) = 0;
};

}  // namespace rml
