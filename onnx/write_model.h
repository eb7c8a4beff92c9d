// Writes an ONNX model, node by node. This is the only interface to the protobuf classes for
// writing.
//
// Values are known by their names; `node` and `constant` make new ones. The writer knows the
// element type of every value and throws `Refused` for a node whose operator does not support a
// type (operator_types.h).
//
//     ModelWriter to("main");
//     to.input("x", DType::f32, {2});
//     to.output("y", to.node("Add", {"x", to.scalar(DType::f32, 1)}), DType::f32, {2});
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "semantics/values/type.h"

namespace rml::onnx {

// An attribute of a node, with its value.
struct Given {
  const char* name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, const class ModelWriter*> value;
};

// Thrown if a construct has no counterpart in ONNX.
struct Refused {
  std::string why;
};

class ModelWriter {
 public:
  static constexpr std::int64_t opset = 17;

  explicit ModelWriter(const std::string& graph);
  // Makes a graph within a node of `around`, whose names are visible in it.
  ModelWriter(const std::string& graph, const ModelWriter& around);
  ~ModelWriter();

  // Returns an unused name near `wanted`.
  std::string fresh(const std::string& wanted);
  void reserve(const std::string& name);  // `fresh` will not return this name

  void input(const std::string& name, DType, const Shape&);
  void output(const std::string& name, const std::string& value, DType, const Shape&);
  void initializer(const std::string& name, const Tensor&);

  // Writes a node and returns the name of its output number `wanted`.
  std::string node(const char* op, const std::vector<std::string>& inputs, const std::vector<Given>& attributes = {},
                   std::size_t outputs = 1, std::size_t wanted = 0);

  // `types` are the types of the outputs if the operator's row does not determine them.
  std::vector<std::string> nodes(const char* op, const std::vector<std::string>& inputs,
                                 const std::vector<Given>& attributes, std::size_t outputs,
                                 const std::vector<DType>& types = {});
  DType type_of(const std::string& name) const;

  std::string constant(const Tensor&, const std::string& wanted = "c");
  std::string integers(const std::vector<std::int64_t>&);  // writes a vector of type i64
  std::string scalar(DType, double);                       // writes a number, rounded to the dtype
  std::string cast(const std::string& x, DType to);
  std::string reshape(const std::string& x, const Shape&);

  std::string bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the encoded model with every value of its outermost graph as an output.
std::string with_all_outputs(const std::string& model);

}  // namespace rml::onnx
