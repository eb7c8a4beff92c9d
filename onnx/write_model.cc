// Fills the protobuf message of the model; names and their types are shared with the graphs
// within nodes.
#include "onnx/write_model.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>

#include "onnx/attribute_kind.h"
#include "onnx/model.h"
#include "onnx/model.pb.h"
#include "onnx/operator_types.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

void describe(wire::ValueInfo* info, const std::string& name, DType dtype, const Shape& shape) {
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(element_type_of(dtype));
  type->mutable_shape();
  for (const std::int64_t extent : shape) type->mutable_shape()->add_dim()->set_dim_value(extent);
}

}  // namespace

struct ModelWriter::State {
  // Names that all graphs of the model share.
  struct Names {
    std::set<std::string> taken;
    std::map<std::string, int> counts;
    std::map<std::string, DType> types;
  };
  wire::Model model;
  wire::Graph* graph = nullptr;
  std::shared_ptr<Names> names = std::make_shared<Names>();
  std::map<std::string, std::string> constants;  // names of small constants, by type and elements

  DType type_of(const std::string& name) const {
    const auto known = names->types.find(name);
    if (known == names->types.end()) throw std::logic_error("a model's value `" + name + "` has no type");
    return known->second;
  }

  // Checks the types of the operands against the operator's row.
  void check_operands(const OperatorTypes& row, const std::vector<std::string>& inputs) const {
    std::map<char, DType> variables;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].empty()) continue;  // an omitted operand has no type
      const char letter = row.operands[std::min(k, row.operands.size() - 1)];
      const DType type = type_of(inputs[k]);
      const auto set = letter == '*'   ? dtypes::any
                       : letter == 'T' ? row.variable
                       : letter == 'U' ? row.other
                       : letter == 'b' ? dtypes::boolean
                       : letter == 'f' ? bit(DType::f32)
                       : letter == 'l' ? bit(DType::i64)
                                       : static_cast<DTypeSet>(bit(DType::i32) | bit(DType::i64));
      if ((set & bit(type)) == 0)
        throw Refused{"ONNX's operator " + std::string(row.op) + " does not take " + std::string(rml::name(type))};
      if ((letter == 'T' || letter == 'U') && variables.try_emplace(letter, type).first->second != type)
        throw std::logic_error("operands of the exported operator " + std::string(row.op) + " differ in type");
    }
  }

  DType result_type(const OperatorTypes& row, std::size_t k, const std::vector<std::string>& inputs,
                    const std::vector<DType>& types) const {
    switch (row.results[std::min(k, row.results.size() - 1)]) {
      case '*':
        return types.at(k);
      case 'b':
        return DType::boolean;
      case 'l':
        return DType::i64;
      default:
        return type_of(inputs[row.operands.find('T')]);
    }
  }
};

ModelWriter::ModelWriter(const std::string& graph) : state_(std::make_unique<State>()) {
  constexpr std::int64_t ir_version = 8;
  state_->model.set_ir_version(ir_version);
  state_->model.set_producer_name("rmlc");
  auto* set = state_->model.add_opset_import();
  set->set_domain("");
  set->set_version(opset);
  state_->graph = state_->model.mutable_graph();
  state_->graph->set_name(graph);
}

ModelWriter::ModelWriter(const std::string& graph, const ModelWriter& around) : ModelWriter(graph) {
  state_->names = around.state_->names;
}

ModelWriter::~ModelWriter() = default;

DType ModelWriter::type_of(const std::string& name) const { return state_->type_of(name); }

std::string ModelWriter::bytes() const { return state_->model.SerializeAsString(); }

void ModelWriter::reserve(const std::string& name) { state_->names->taken.insert(name); }

std::string ModelWriter::fresh(const std::string& wanted) {
  std::string name = wanted;
  for (int& k = state_->names->counts[wanted]; !state_->names->taken.insert(name).second;)
    name = wanted + "_" + std::to_string(++k);
  return name;
}

void ModelWriter::input(const std::string& name, DType dtype, const Shape& shape) {
  describe(state_->graph->add_input(), name, dtype, shape);
  state_->names->types[name] = dtype;
}

void ModelWriter::output(const std::string& name, const std::string& value, DType dtype, const Shape& shape) {
  wire::Node* n = state_->graph->add_node();
  n->set_op_type("Identity");
  n->add_input(value);
  n->add_output(name);
  describe(state_->graph->add_output(), name, dtype, shape);
}

void ModelWriter::initializer(const std::string& name, const Tensor& tensor) {
  wire::Tensor* t = state_->graph->add_initializer();
  t->set_name(name);
  state_->names->types[name] = tensor.dtype();
  t->set_data_type(element_type_of(tensor.dtype()));
  for (const std::int64_t extent : tensor.shape()) t->add_dims(extent);
  t->set_raw_data(tensor.data(), tensor.bytes());
}

std::string ModelWriter::node(const char* op, const std::vector<std::string>& inputs,
                              const std::vector<Given>& attributes, std::size_t outputs, std::size_t wanted) {
  return nodes(op, inputs, attributes, outputs)[wanted];
}

std::vector<std::string> ModelWriter::nodes(const char* op, const std::vector<std::string>& inputs,
                                            const std::vector<Given>& attributes, std::size_t outputs,
                                            const std::vector<DType>& types) {
  const OperatorTypes* row = types_of(op);
  if (row == nullptr) throw std::logic_error("the exported operator " + std::string(op) + " has no row of types");
  state_->check_operands(*row, inputs);
  wire::Node* n = state_->graph->add_node();
  n->set_op_type(op);
  for (const std::string& i : inputs) n->add_input(i);
  std::vector<std::string> results;
  for (std::size_t k = 0; k < outputs; ++k) {
    results.push_back(fresh("v"));
    n->add_output(results.back());
    state_->names->types[results.back()] = state_->result_type(*row, k, inputs, types);
  }
  for (const Given& g : attributes) {
    wire::Attribute* a = n->add_attribute();
    a->set_name(g.name);
    if (const auto* i = std::get_if<std::int64_t>(&g.value)) a->set_i(*i), a->set_type(one_int);
    if (const auto* f = std::get_if<float>(&g.value)) a->set_f(*f), a->set_type(one_float);
    if (const auto* s = std::get_if<std::string>(&g.value)) a->set_s(*s), a->set_type(one_text);
    if (const auto* list = std::get_if<Integers>(&g.value)) {
      a->set_type(ints);
      for (const std::int64_t i : *list) a->add_ints(i);
    }
    if (const auto* body = std::get_if<const ModelWriter*>(&g.value)) {
      a->set_type(one_graph);
      *a->mutable_g() = *(*body)->state_->graph;
    }
  }
  return results;
}

std::string ModelWriter::constant(const Tensor& tensor, const std::string& wanted) {
  constexpr std::size_t small = 256;
  if (tensor.bytes() > small) {
    const std::string name = fresh(wanted);
    initializer(name, tensor);
    return name;
  }
  std::string key = type_string(tensor.dtype(), tensor.shape()) + ":";
  if (tensor.bytes() > 0) key.append(static_cast<const char*>(tensor.data()), tensor.bytes());
  std::string& name = state_->constants[key];
  if (name.empty()) initializer(name = fresh(wanted), tensor);
  return name;
}

std::string ModelWriter::integers(const Integers& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, t.as<std::int64_t>());
  return constant(t);
}

std::string ModelWriter::scalar(DType dtype, double value) { return constant(Tensor::number(dtype, value)); }

std::string ModelWriter::cast(const std::string& x, DType to) {
  return type_of(x) == to ? x : nodes("Cast", {x}, {{"to", std::int64_t{element_type_of(to)}}}, 1, {to})[0];
}

std::string with_all_outputs(const std::string& bytes) {
  wire::Model model;
  if (!model.ParseFromString(bytes)) return bytes;
  wire::Graph* graph = model.mutable_graph();
  std::set<std::string> known;
  for (const wire::ValueInfo& v : graph->output()) known.insert(v.name());
  for (const wire::Node& n : graph->node())
    for (const std::string& name : n.output())
      if (!name.empty() && known.insert(name).second) graph->add_output()->set_name(name);
  return model.SerializeAsString();
}

std::string ModelWriter::reshape(const std::string& x, const Shape& shape) {
  return node("Reshape", {x, integers(shape)}, {{"allowzero", std::int64_t{1}}});
}

}  // namespace rml::onnx
