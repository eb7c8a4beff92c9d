// One node of a model while it is imported, as the functions for operators see it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/builder.h"
#include "onnx/model.h"

namespace rml::onnx {

// Thrown if a value must be known during the import but is an input or is computed from inputs.
struct NeedsValue {
  std::string place;
  std::string what;   // name of the operand for messages, for example "the shape"
  std::string input;  // name of the input in the program; empty if the value is computed
};

// A graph of the model, written as a node of the program. Its arguments are the inputs of the
// graph, followed by the values that it uses from the graphs around it.
struct WrittenNode {
  std::string name;
  std::vector<Term> captured;  // the outer values, as terms of the caller
  std::vector<Term> outputs;   // results with dtypes and shapes; the terms are valid within the node
};

// Interface to the code that writes a graph within a node.
class GraphWriter {
 public:
  virtual ~GraphWriter() = default;
  // Writes the equations of the graph into the caller's scope with these arguments. Returns the
  // outputs.
  virtual std::vector<Term> inlined(const Graph&, const std::vector<Term>& arguments) = 0;
  virtual WrittenNode node_of(const Graph&, const std::vector<Term>& like, const std::string& name) = 0;
};

class Call;

// A row of the importer's table. `attributes` lists each attribute with its kind: "axis:i
// pads:ints alpha:f mode:s value:t body:g strings:texts". An ! after the kind means that the
// attribute is required.
struct Row {
  std::string_view op;
  int since = 1;  // first version of the operator set that contains the operator
  int least_inputs = 1;
  int most_inputs = 1;  // largest number of inputs; -1: any number
  int most_outputs = 1;
  std::string_view attributes{};
  std::vector<Term> (*lower)(Call&) = nullptr;
  std::string_view domain{};  // domain of the operator; empty: ai.onnx
};

const Row* find_row(std::string_view domain, std::string_view op);
std::vector<const Row*> all_rows();
// Returns an error text if the node does not match the row, or "".
std::string mismatch(const Row&, const Node&);

class Call {
 public:
  Call(Builder& builder, const Node& of, std::int64_t opset, std::vector<std::optional<Term>> operands,
       GraphWriter& graph_writer)
      : b(builder), writer(graph_writer), node(of), version(opset), inputs_(std::move(operands)) {}

  Builder& b;
  GraphWriter& writer;
  const Node& node;
  const std::int64_t version;  // version of the operator set

  std::size_t inputs() const { return inputs_.size(); }
  bool has(std::size_t k) const { return k < inputs_.size() && inputs_[k].has_value(); }
  const Term& in(std::size_t k) const;  // returns input k; throws if it is omitted
  std::vector<Term> all_inputs() const;
  bool wants(std::size_t output) const { return output < node.outputs.size() && !node.outputs[output].empty(); }

  bool has(std::string_view attribute) const { return find(attribute) != nullptr; }
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  double number(std::string_view attribute, double fallback) const;
  std::string text(std::string_view attribute, std::string fallback) const;
  std::vector<std::int64_t> integers(std::string_view attribute, std::vector<std::int64_t> fallback = {}) const;
  std::vector<float> numbers(std::string_view attribute) const;
  std::vector<std::string> texts(std::string_view attribute) const;
  const Tensor* tensor(std::string_view attribute) const;
  const Graph& graph(std::string_view attribute) const;

  // Returns the value of input k, which must be known during the import. Throws NeedsValue.
  const Tensor& known(std::size_t k, const char* what) const;
  std::vector<std::int64_t> known_integers(std::size_t k, const char* what) const;
  // Returns the value of an operand that must have one element. Its rank does not matter.
  std::int64_t known_integer(std::size_t k, const char* what) const;
  // Returns the axes, which are input k in newer versions and an attribute in older ones. Returns
  // nothing if they are omitted.
  std::optional<std::vector<std::int64_t>> axes(std::size_t k, int input_since, const char* attribute = "axes") const;

  Term apply(std::string_view op, std::vector<Term> operands, const Arguments& arguments = {},
             std::optional<DType> result = {}) const {
    return b.apply(op, std::move(operands), arguments, result);
  }

 private:
  const AttributeValue* find(std::string_view attribute) const;

  std::vector<std::optional<Term>> inputs_;
};

// Returns the axis in [0, rank); throws ModelError if it is out of range.
std::int64_t normalized(std::int64_t axis, std::int64_t rank);
std::vector<std::int64_t> normalized(std::vector<std::int64_t> axes, std::int64_t rank);

// Each family of operators has one function that returns its rows (onnx/operators/<family>.cc).
std::vector<Row> elementwise_rows();
std::vector<Row> activation_rows();
std::vector<Row> shape_rows();
std::vector<Row> indexing_rows();
std::vector<Row> reduction_rows();
std::vector<Row> product_rows();
std::vector<Row> window_rows();
std::vector<Row> normalization_rows();
std::vector<Row> loss_rows();
std::vector<Row> resize_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> control_rows();

}  // namespace rml::onnx
