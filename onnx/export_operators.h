// How operators are written in a model (part of export).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/write_model.h"
#include "semantics/core/core.h"

namespace rml::onnx {

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
  const Tensor* constant(std::size_t k) const;  // null: the operand is no constant

  // A node whose operands and result have the type of `x`. Where ONNX's operator lacks integers of fewer than 32 bits,
  // it computes in 32, and the upper bits are cut off: sums and products wrap as they do here, and extrema stay.
  std::string node(const char* op, const std::string& x, const std::vector<std::string>& more = {},
                   const std::vector<Given>& attributes = {}) const;
};

// The value of an application that reads no element, and that of none: constants. ONNX leaves open what most operators
// make of empty tensors.
std::optional<Tensor> without_elements(const Site&);

// Writes the nodes of an application; the name of its result. Null: the operator has no counterpart.
using Writer = std::function<std::string(const Site&)>;
const Writer* writer_of(std::string_view op);

// Those of operators that compute element by element (export_elements.cc).
using Writers = std::map<std::string_view, Writer>;
const Writers& element_writers();
Writer same_node(const char* op, std::vector<Given> attributes = {});  // one node, the same for every application

}  // namespace rml::onnx
