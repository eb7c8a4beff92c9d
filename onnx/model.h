// An ONNX model as it was read from its file.
//
// Names, operators and attributes are those of the model; tensors are decoded. The reader has
// checked that every tensor has the elements of its shape and every attribute has one kind.
// check_model checks the rest: cycles, unknown names, operators.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "semantics/values/type.h"

namespace rml::onnx {

// An error in the model, with its place: "node 12 'conv1' (Conv)" or another part.
struct ModelError {
  std::string place;
  std::string message;
};

// The name of an element type in messages, by its number in the format: "FLOAT16", "STRING",
// "type 99".
std::string element_type_name(int type);
std::optional<DType> dtype_of(int element_type);  // the dtype of an element type; nothing: the language lacks the type
int element_type_of(DType);

struct Dimension {
  std::int64_t extent = -1;  // the extent of the axis; -1: unknown
  std::string symbol;        // name of an unknown extent, if it has one
};
// The type of a tensor. Other kinds have their name in `kind` ("sequence", "map", "optional",
// "sparse").
struct ValueType {
  std::string kind = "tensor";
  int element_type = 0;  // number of the element type; 0: not declared
  std::optional<std::vector<Dimension>> shape;
};
struct ValueInfo {
  std::string name;
  ValueType type;
};

struct Graph;
// A tensor of texts, each a list of bytes. It has no Tensor.
struct Texts {
  Shape shape;
  std::vector<std::string> texts;
};
struct UnknownAttribute {
  std::string kind;  // kind of the value, for example "sparse tensor"
};
using AttributeValue =
    std::variant<std::monostate, float, std::int64_t, std::string, Tensor, Texts, std::shared_ptr<const Graph>,
                 std::vector<float>, std::vector<std::int64_t>, std::vector<std::string>, UnknownAttribute>;
struct NodeAttribute {
  std::string name;
  std::string reference;  // attribute of the function whose value it takes; then it has no value of its own
  AttributeValue value;
};

struct Node {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;  // names of values; "" for an omitted one
  std::vector<NodeAttribute> attributes;
};

struct Initializer {
  std::string name;
  Tensor value;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Initializer> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
};

using Opsets = std::map<std::string, std::int64_t>;  // version of the operator set for each domain; "" is ai.onnx

struct Function {
  std::string domain, name, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // names of attributes without a default
  std::vector<NodeAttribute> with_default;
  std::vector<Node> nodes;
  Opsets opsets;
};

struct Model {
  std::int64_t ir_version = 0;
  std::string producer;
  Opsets opsets;
  Graph graph;
  std::vector<Function> functions;
  std::set<std::filesystem::path> files;  // files besides its own that contain tensors
};

// The supported versions of the format.
inline constexpr std::int64_t first_ir_version = 1, last_ir_version = 14;

// Reads a model, and its external tensors from the same folder. Throws ModelError.
Model read_model(const std::filesystem::path& file);
Model decode_model(std::string_view bytes, const std::filesystem::path& folder);
// Reads a file with a single tensor, the format of ONNX's conformance suite. Throws ModelError.
Tensor read_tensor(const std::filesystem::path& file);

// Describes a node for messages, for example "node 12 'conv1' (Conv)".
std::string describe(const Node&, std::size_t position);
// Shortens a long name for messages. A message may be stored for each of many nodes, so it must
// not contain names of megabytes.
std::string shortened(std::string_view);
std::string in_quotes(std::string_view);

}  // namespace rml::onnx
