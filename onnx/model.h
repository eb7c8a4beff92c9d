// An ONNX model as the importer sees it, read from a file and not yet looked into.
//
// Names, operators and attributes are the model's own; tensors are decoded. What the wire
// format cannot say wrong cannot be wrong here either: every tensor has the elements that its
// shape asks for, every attribute is of one kind. What can still be wrong (cycles, unknown
// names, operators) is check_model's business.
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

// A fault of the model: what, and in which node ("node 12 'conv1' (Conv)") or other place.
struct ModelError {
  std::string place;
  std::string message;
};

// The element types' numbers in the format that have a name in messages: "FLOAT16", "STRING", "type 99".
std::string element_type_name(int type);
std::optional<DType> dtype_of(int element_type);  // nothing: the language does not have it
int element_type_of(DType);

struct Dimension {
  std::int64_t extent = -1;  // unknown: -1
  std::string symbol;        // of an unknown one, where it has one
};
// A tensor's type; other kinds have their name in `kind` ("sequence", "map", "optional", "sparse").
struct ValueType {
  std::string kind = "tensor";
  int element_type = 0;  // 0: not said
  std::optional<std::vector<Dimension>> shape;
};
struct ValueInfo {
  std::string name;
  ValueType type;
};

struct Graph;
// Texts are a list of bytes each. A tensor whose elements are texts has no value here: it is `Texts`.
struct Texts {
  Shape shape;
  std::vector<std::string> texts;
};
struct UnknownAttribute {
  std::string kind;  // "sparse tensor", "type"
};
using AttributeValue =
    std::variant<std::monostate, float, std::int64_t, std::string, Tensor, Texts, std::shared_ptr<const Graph>,
                 std::vector<float>, std::vector<std::int64_t>, std::vector<std::string>, UnknownAttribute>;
struct NodeAttribute {
  std::string name;
  std::string reference;  // of a function's attribute; then it has no value
  AttributeValue value;
};

struct Node {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;  // "" where left out
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

using Opsets = std::map<std::string, std::int64_t>;  // by domain; "" is ai.onnx

struct Function {
  std::string domain, name, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // those without default
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
  std::set<std::filesystem::path> files;  // that its tensors are in, beside its own
};

// Versions of the format that are known.
inline constexpr std::int64_t first_ir_version = 1, last_ir_version = 14;

// Reads a model; tensors that it keeps in files of its own are read from its folder. Throws ModelError.
Model read_model(const std::filesystem::path& file);
Model decode_model(std::string_view bytes, const std::filesystem::path& folder);
// A file that holds one tensor, as the conformance suite has them. Throws ModelError.
Tensor read_tensor(const std::filesystem::path& file);

// "node 12 'conv1' (Conv)".
std::string describe(const Node&, std::size_t position);
// Names for messages: what is too long to be read is cut. A message that is kept for each of many nodes must not
// hold names of megabytes.
std::string shortened(std::string_view);
std::string in_quotes(std::string_view);

}  // namespace rml::onnx
