// Reads ONNX models from the wire format into model.h.
//
// Protobuf parses the file with its usual limit of nesting. Every size is checked before memory
// is allocated for it, so the result is never larger than a small multiple of the file and of the
// external files to which it refers.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <fstream>
#include <unordered_map>
#include <unordered_set>

#include "onnx/attribute_kind.h"
#include "onnx/decode_tensor.h"
#include "onnx/model.h"
#include "onnx/model.pb.h"
#include "runtime/base/readable.h"

namespace rml::onnx {

namespace {

constexpr int deepest_graph = 32;        // limit on the nesting depth of graphs
constexpr int deepest_message = 10'000;  // large enough that deep graphs are reported as such and not as a damaged file

// Returns the kind of the field that is filled.
AttributeKind filled_kind(const wire::Attribute& a) {
  if (a.has_f()) return one_float;
  if (a.has_i()) return one_int;
  if (a.has_s()) return one_text;
  if (a.has_t()) return one_tensor;
  if (a.has_g()) return one_graph;
  if (a.floats_size() > 0) return floats;
  if (a.ints_size() > 0) return ints;
  if (a.strings_size() > 0) return texts;
  if (a.tensors_size() > 0) return tensors;
  return a.graphs_size() > 0 ? graphs : undefined;
}

int filled_fields(const wire::Attribute& a) {
  return a.has_f() + a.has_i() + a.has_s() + a.has_t() + a.has_g() + (a.floats_size() > 0) + (a.ints_size() > 0) +
         (a.strings_size() > 0) + (a.tensors_size() > 0) + (a.graphs_size() > 0) + a.has_tp() + a.has_sparse_tensor() +
         (a.type_protos_size() > 0) + (a.sparse_tensors_size() > 0);
}

// Returns the kind of the attribute. Throws if the declared kind is not that of the filled field.
// No field may be filled if the value is zero, an empty text or an empty list.
AttributeKind kind_of(const wire::Attribute& a, std::int64_t ir_version, const std::string& place) {
  const AttributeKind filled = filled_kind(a);
  const int fields = filled_fields(a);
  if (fields > 1) throw ModelError{place, "it has several values"};
  if (ir_version < 2 && !a.has_type()) return filled;
  if (!a.has_type() || a.type() == undefined) throw ModelError{place, "its type is missing"};
  const auto said = static_cast<AttributeKind>(a.type());
  if (fields == 1 && filled != undefined && filled != said) throw ModelError{place, "its type does not fit its value"};
  return said;
}

class Reader {
 public:
  Reader(const std::filesystem::path& folder, std::int64_t ir_version) : external_(folder), ir_version_(ir_version) {}
  const std::set<std::filesystem::path>& files() const { return files_; }

  Graph graph(const wire::Graph& from, int depth) {
    if (depth > deepest_graph)
      throw ModelError{"graph " + in_quotes(from.name()), "graphs are nested more than 32 deep"};
    Graph to{name(from.name()), {}, {}, {}, {}, {}};
    for (const wire::Node& n : from.node()) to.nodes.push_back(node(n, to.nodes.size(), depth));
    for (const wire::Tensor& t : from.initializer()) {
      const std::string place = "initializer " + in_quotes(t.name());
      auto value = tensor(t, place);
      if (!std::holds_alternative<Tensor>(value)) throw ModelError{place, "tensors of texts are not supported"};
      to.initializers.push_back({name(t.name()), std::get<Tensor>(std::move(value))});
    }
    if (from.sparse_initializer_size() > 0)
      throw ModelError{"initializer " + in_quotes(from.sparse_initializer(0).values().name()),
                       "sparse tensors are not supported"};
    for (const wire::ValueInfo& v : from.input()) to.inputs.push_back({name(v.name()), type(v.type())});
    for (const wire::ValueInfo& v : from.output()) to.outputs.push_back({name(v.name()), type(v.type())});
    for (const wire::ValueInfo& v : from.value_info()) to.values.push_back({name(v.name()), type(v.type())});
    return to;
  }

  Function function(const wire::Function& from) {
    Function to{domain(from.domain()), name(from.name()), name(from.overload()), {}, {}, {}, {}, {}, {}};
    for (const std::string& input : from.input()) to.inputs.push_back(name(input));
    for (const std::string& output : from.output()) to.outputs.push_back(name(output));
    for (const std::string& attribute : from.attribute()) to.attributes.push_back(name(attribute));
    const std::string place = "function " + in_quotes(from.name());
    for (const wire::Attribute& a : from.attribute_proto()) to.with_default.push_back(attribute(a, place, 1));
    for (const wire::Node& n : from.node()) to.nodes.push_back(node(n, to.nodes.size(), 1));
    to.opsets = opsets(from.opset_import(), place);
    return to;
  }

  template <class Repeated>
  Opsets opsets(const Repeated& from, const std::string& place) {
    Opsets to;
    for (const wire::OperatorSet& set : from) {
      const std::string of = domain(set.domain());
      if (!to.emplace(of, set.version()).second)
        throw ModelError{place,
                         "the model names two versions of the operator set " + in_quotes(of.empty() ? "ai.onnx" : of)};
    }
    return to;
  }

 private:
  // Names are copied at each use, so very long ones are shortened and made unique by a number.
  std::string name(const std::string& own) {
    constexpr std::size_t longest = 1000;
    if (own.size() <= longest) return own;
    const auto [at, first] = long_names_.try_emplace(own);
    if (first) at->second = shortened(own) + "#" + std::to_string(long_names_.size());
    return at->second;
  }
  std::string domain(const std::string& own) { return own == "ai.onnx" ? "" : name(own); }

  Node node(const wire::Node& from, std::size_t position, int depth) {
    Node to{name(from.name()), name(from.op_type()), domain(from.domain()), name(from.overload()), {}, {}, {}};
    for (const std::string& input : from.input()) to.inputs.push_back(name(input));
    for (const std::string& output : from.output()) to.outputs.push_back(name(output));
    const std::string place = describe(to, position);
    std::unordered_set<std::string_view> seen;
    for (const wire::Attribute& a : from.attribute()) {
      if (!seen.insert(a.name()).second)
        throw ModelError{place, "attribute " + in_quotes(a.name()) + " is given twice"};
      to.attributes.push_back(attribute(a, place, depth));
    }
    return to;
  }

  NodeAttribute attribute(const wire::Attribute& a, const std::string& place, int depth) {
    NodeAttribute to{name(a.name()), name(a.ref_attr_name()), {}};
    if (to.reference.empty()) to.value = value(a, place + ", attribute " + in_quotes(a.name()), depth);
    return to;
  }

  AttributeValue value(const wire::Attribute& a, const std::string& place, int depth) {
    switch (kind_of(a, ir_version_, place)) {
      case one_float:
        return a.f();
      case one_int:
        return std::int64_t{a.i()};
      case one_text:
        return a.s();
      case one_tensor: {
        if (!a.has_t()) throw ModelError{place, "a tensor is missing"};
        auto t = tensor(a.t(), place);
        if (auto* tensor = std::get_if<Tensor>(&t)) return std::move(*tensor);
        return std::get<Texts>(std::move(t));
      }
      case one_graph:
        if (!a.has_g()) throw ModelError{place, "a graph is missing"};
        return std::make_shared<const Graph>(graph(a.g(), depth + 1));
      case floats:
        return std::vector<float>(a.floats().begin(), a.floats().end());
      case ints:
        return std::vector<std::int64_t>(a.ints().begin(), a.ints().end());
      case texts:
        return std::vector<std::string>(a.strings().begin(), a.strings().end());
      case tensors:
        return UnknownAttribute{"list of tensors"};
      case graphs:
        return UnknownAttribute{"list of graphs"};
      case undefined:
        return {};
    }
    return UnknownAttribute{"attribute of kind " + std::to_string(a.type())};
  }

  static ValueType type(const wire::Type& from) {
    ValueType to;
    if (from.has_sequence_type()) to.kind = "sequence";
    if (from.has_map_type()) to.kind = "map";
    if (from.has_optional_type()) to.kind = "optional";
    if (from.has_sparse_tensor_type()) to.kind = "sparse";
    to.element_type = from.tensor_type().elem_type();
    if (!from.tensor_type().has_shape()) return to;
    to.shape.emplace();
    for (const auto& d : from.tensor_type().shape().dim()) {
      const bool known = d.has_dim_value() && d.dim_value() >= 0;
      to.shape->push_back({known ? d.dim_value() : -1, d.dim_param()});
    }
    return to;
  }

  std::variant<Tensor, Texts> tensor(const wire::Tensor& from, const std::string& place) {
    for (const wire::Entry& entry : from.external_data())
      if (entry.key() == "location") files_.insert(external_.folder() / entry.value());
    return decode_tensor(from, external_, place);
  }

  ExternalTensors external_;
  std::unordered_map<std::string, std::string> long_names_;
  std::int64_t ir_version_;
  std::set<std::filesystem::path> files_;
};

bool has_elements(const wire::Tensor& t) {
  return t.has_raw_data() || t.data_location() == 1 ||
         t.float_data_size() + t.int32_data_size() + t.int64_data_size() + t.double_data_size() + t.uint64_data_size() +
                 t.string_data_size() >
             0;
}

template <class Message>
void parse(Message& message, std::string_view bytes, const char* what) {
  google::protobuf::SetLogHandler(nullptr);  // the exception describes the error
  if (bytes.size() > static_cast<std::size_t>(INT32_MAX))
    throw ModelError{"", "the file has over 2 GB: keep its tensors in files beside it"};
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(deepest_message);
  if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    throw ModelError{"", std::string("not ") + what + ": the file is damaged, truncated, or of another kind"};
}

std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  std::error_code error;
  if (!in || std::filesystem::is_directory(file, error)) throw ModelError{"", "the file cannot be read"};
  const auto size = static_cast<std::int64_t>(in.tellg());
  if (size < 0 || size > INT32_MAX) throw ModelError{"", "the file has over 2 GB: keep its tensors in files beside it"};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), size)) throw ModelError{"", "the file cannot be read"};
  return bytes;
}

}  // namespace

std::string describe(const Node& node, std::size_t position) {
  std::string text = "node " + std::to_string(position + 1);
  if (!node.name.empty()) text += " " + in_quotes(node.name);
  return text + " (" + shortened((node.domain.empty() ? "" : node.domain + ".") + node.op) + ")";
}

std::string shortened(std::string_view text) {
  if (text.size() <= longest_quotation) return std::string(text);
  std::size_t end = longest_quotation;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;  // moves back, so that no UTF-8 character is split
  return std::string(text.substr(0, end)) + "…";
}

std::string in_quotes(std::string_view text) { return "'" + shortened(text) + "'"; }

Model decode_model(std::string_view bytes, const std::filesystem::path& folder) {
  wire::Model from;
  parse(from, bytes, "an ONNX model");
  if (!from.has_graph()) throw ModelError{"", "not an ONNX model: it has no graph"};
  if (from.ir_version() < first_ir_version || from.ir_version() > last_ir_version)
    throw ModelError{"", "version " + std::to_string(from.ir_version()) + " of the format is not known: " +
                             std::to_string(first_ir_version) + " to " + std::to_string(last_ir_version) + " are"};
  Reader reader(folder, from.ir_version());
  Model to;
  to.ir_version = from.ir_version();
  to.producer = from.producer_name() + (from.producer_version().empty() ? "" : " " + from.producer_version());
  to.opsets = reader.opsets(from.opset_import(), "");
  if (to.ir_version < 3 && !to.opsets.empty())
    throw ModelError{"",
                     "a model of version " + std::to_string(to.ir_version) + " of the format names no operator sets"};
  if (to.ir_version < 3) to.opsets[""] = 1;
  to.graph = reader.graph(from.graph(), 0);
  for (const wire::Function& f : from.functions()) to.functions.push_back(reader.function(f));
  to.files = reader.files();
  return to;
}

Model read_model(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  return decode_model(read_bytes(file), folder);
}

Tensor read_tensor(const std::filesystem::path& file) {
  wire::Tensor from;
  parse(from, read_bytes(file), "an ONNX tensor");
  // ONNX's suite encodes sequences and optional values in files that parse as tensors: the name
  // is stored as the shape and the tensors as a segment. An empty sequence has no further fields.
  if (from.has_segment()) throw ModelError{"", "it holds a sequence or an optional value, not a tensor"};
  if (!has_elements(from) && std::ranges::find(from.dims(), 0) == from.dims().end())
    throw ModelError{"", "it holds no elements of a tensor: is it an empty sequence, or an optional value?"};
  ExternalTensors external(file.parent_path());
  auto value = decode_tensor(from, external, "");
  if (auto* tensor = std::get_if<Tensor>(&value)) return std::move(*tensor);
  throw ModelError{"", "tensors of texts are not supported"};
}

}  // namespace rml::onnx
