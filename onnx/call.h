// One node of a model while it is written: what an operator's function sees of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/builder.h"
#include "onnx/model.h"

namespace rml::onnx {

// A value must be known when the model is imported, and is an input, or computed from inputs.
struct NeedsValue {
  std::string place;
  std::string what;   // "the shape"
  std::string input;  // the program's name of the input, or "" where it is computed
};

// A graph of the model as a node of the program: its arguments are the graph's inputs, then what it
// uses of the graphs around it.
struct WrittenNode {
  std::string name;
  std::vector<Term> captured;  // as the caller sees them
  std::vector<Term> outputs;   // dtypes and shapes; within the node
};

// Code that writes graphs within nodes.
class GraphWriter {
 public:
  virtual ~GraphWriter() = default;
  // The graph's equations in the scope of the caller, with these values for its inputs; its outputs.
  virtual std::vector<Term> inlined(const Graph&, const std::vector<Term>& arguments) = 0;
  virtual WrittenNode node_of(const Graph&, const std::vector<Term>& like, const std::string& name) = 0;
};

class Call;

// A row of the importer's table. `attributes` names each one with its kind: "axis:i pads:ints alpha:f mode:s
// value:t body:g strings:texts"; an ! after the kind: it must be there.
struct Row {
  std::string_view op;
  int since = 1;  // the first version of the operator set that has it
  int least_inputs = 1;
  int most_inputs = 1;  // -1: any number
  int most_outputs = 1;
  std::string_view attributes{};
  std::vector<Term> (*lower)(Call&) = nullptr;
  std::string_view domain{};  // "" is ai.onnx
};

const Row* find_row(std::string_view domain, std::string_view op);
std::vector<const Row*> all_rows();
// What the checker has to say of a node against its row, or "".
std::string mismatch(const Row&, const Node&);

class Call {
 public:
  Call(Builder& builder, const Node& of, std::int64_t opset, std::vector<std::optional<Term>> operands,
       GraphWriter& graph_writer)
      : b(builder), writer(graph_writer), node(of), version(opset), inputs_(std::move(operands)) {}

  Builder& b;
  GraphWriter& writer;
  const Node& node;
  const std::int64_t version;  // of the operator set

  std::size_t inputs() const { return inputs_.size(); }
  bool has(std::size_t k) const { return k < inputs_.size() && inputs_[k].has_value(); }
  const Term& in(std::size_t k) const;  // throws if it is left out
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

  // Input k, which must be known when the model is imported. Throws NeedsValue.
  const Tensor& known(std::size_t k, const char* what) const;
  std::vector<std::int64_t> known_integers(std::size_t k, const char* what) const;
  std::int64_t known_integer(std::size_t k, const char* what) const;  // of one element, whatever its rank
  // The axes that newer versions take as input k and older ones as an attribute; nothing if left out.
  std::optional<std::vector<std::int64_t>> axes(std::size_t k, int input_since, const char* attribute = "axes") const;

  Term apply(std::string_view op, std::vector<Term> operands, const Arguments& arguments = {},
             std::optional<DType> result = {}) const {
    return b.apply(op, std::move(operands), arguments, result);
  }

 private:
  const AttributeValue* find(std::string_view attribute) const;

  std::vector<std::optional<Term>> inputs_;
};

// axis in [0, rank); throws ModelError.
std::int64_t normalized(std::int64_t axis, std::int64_t rank);
std::vector<std::int64_t> normalized(std::vector<std::int64_t> axes, std::int64_t rank);

// One function per family, each returning its rows (onnx/operators/<family>.cc).
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
