// How operators are written in a model (part of export).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/write_model.h"
#include "semantics/core/core.h"

namespace rml::onnx {

// Thrown where an application has no counterpart.
struct Refused {
  std::string why;
};

// An application of an operator while it is written.
struct Site {
  ModelWriter& to;
  const Core& core;
  const Value& value;
  const core::Apply& apply;
  std::vector<std::string> operands;  // names in the model

  const Shape& shape(std::size_t k) const { return core[apply.operands[k]].shape; }
  DType dtype(std::size_t k) const { return core[apply.operands[k]].dtype; }
  std::int64_t rank(std::size_t k = 0) const { return static_cast<std::int64_t>(shape(k).size()); }
  const Attribute& attribute(std::size_t k) const { return apply.attributes.at(k); }
  std::int64_t integer(std::size_t k) const { return attribute(k).integers.at(0); }
};

// Writes the nodes of an application; the name of its result. Null: the operator has no counterpart.
using Writer = std::function<std::string(const Site&)>;
const Writer* writer_of(std::string_view op);

}  // namespace rml::onnx
