// The writers of operators: functions that write one application into a model (part of the
// export).
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

// An application of an operator that is being written.
struct Site {
  ModelWriter& to;
  const Core& core;
  const Value& value;
  const core::Apply& apply;
  std::vector<std::string> operands;  // names of the operands in the model

  const Shape& shape(std::size_t k) const { return core[apply.operands[k]].shape; }
  DType dtype(std::size_t k) const { return core[apply.operands[k]].dtype; }
  std::int64_t rank(std::size_t k = 0) const { return static_cast<std::int64_t>(shape(k).size()); }
  const Attribute& attribute(std::size_t k) const { return apply.attributes.at(k); }
  std::int64_t integer(std::size_t k) const { return attribute(k).integers.at(0); }
  const Tensor* constant(std::size_t k) const;  // the value of operand k; null: it is not a constant

  // Writes a node whose operands and result have the type of `x`. If ONNX's operator lacks
  // integers of fewer than 32 bits, it computes in 32 bits and drops the upper bits. Sums and
  // products then wrap as in the language, and extrema are exact.
  std::string node(const char* op, const std::string& x, const std::vector<std::string>& more = {},
                   const std::vector<Given>& attributes = {}) const;
};

// Returns the value of an application whose operands or result have no elements, as a constant.
// ONNX leaves most operators undefined for empty tensors.
std::optional<Tensor> without_elements(const Site&);

// Writes the nodes of an application and returns the name of its result. Null if the operator has
// no counterpart.
using Writer = std::function<std::string(const Site&)>;
const Writer* writer_of(std::string_view op);

// The writers of operators that compute element by element (export_elements.cc).
using Writers = std::map<std::string_view, Writer>;
const Writers& element_writers();
// Returns a writer of one node with fixed attributes.
Writer same_node(const char* op, std::vector<Given> attributes = {});

}  // namespace rml::onnx
