// Reading ONNX models: the wire format to model.h.
//
// The file is parsed by protobuf under its usual limit of nesting; every size in it is checked
// before anything is allocated for it, so that what is read is never larger than a small
// multiple of the file (and of the files beside it that it refers to).
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <fstream>

#include "onnx/decode_tensor.h"
#include "onnx/model.h"
#include "onnx/model.pb.h"

namespace rml::onnx {

namespace {

constexpr int deepest_graph = 32;  // graphs within graphs

// Kinds of attributes by their number in the format.
enum Kind : int {
  undefined,
  one_float,
  one_int,
  one_text,
  one_tensor,
  one_graph,
  floats,
  ints,
  texts,
  tensors,
  graphs
};

// The kind that the fields have.
Kind filled_kind(const wire::Attribute& a) {
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

// Throws where what an attribute says that it is, is not what it is. Numbers and texts that are zero or empty,
// and empty lists, may be without a field.
Kind kind_of(const wire::Attribute& a, std::int64_t ir_version, const std::string& place) {
  const Kind filled = filled_kind(a);
  const int fields = filled_fields(a);
  if (fields > 1) throw ModelError{place, "it has several values"};
  if (ir_version < 2 && !a.has_type()) return filled;
  if (!a.has_type() || a.type() == undefined) throw ModelError{place, "its type is missing"};
  const auto said = static_cast<Kind>(a.type());
  if (fields == 1 && filled != undefined && filled != said)
    throw ModelError{place, "its type is not that of its value"};
  return said;
}

class Reader {
 public:
  Reader(const std::filesystem::path& folder, std::int64_t ir_version) : folder_(folder), ir_version_(ir_version) {}
  const std::set<std::filesystem::path>& files() const { return files_; }

  Graph graph(const wire::Graph& from, int depth) {
    if (depth > deepest_graph) throw ModelError{"graph '" + from.name() + "'", "graphs within graphs, over 32 deep"};
    Graph to{from.name(), {}, {}, {}, {}, {}};
    for (const wire::Node& n : from.node()) to.nodes.push_back(node(n, to.nodes.size(), depth));
    for (const wire::Tensor& t : from.initializer()) {
      const std::string place = "initializer '" + t.name() + "'";
      auto value = tensor(t, place);
      if (!std::holds_alternative<Tensor>(value)) throw ModelError{place, "tensors of texts are not supported"};
      to.initializers.push_back({t.name(), std::get<Tensor>(std::move(value))});
    }
    if (from.sparse_initializer_size() > 0)
      throw ModelError{"initializer '" + from.sparse_initializer(0).values().name() + "'",
                       "sparse tensors are not supported"};
    for (const wire::ValueInfo& v : from.input()) to.inputs.push_back({v.name(), type(v.type())});
    for (const wire::ValueInfo& v : from.output()) to.outputs.push_back({v.name(), type(v.type())});
    for (const wire::ValueInfo& v : from.value_info()) to.values.push_back({v.name(), type(v.type())});
    return to;
  }

  Function function(const wire::Function& from) {
    Function to{from.domain() == "ai.onnx" ? "" : from.domain(), from.name(), from.overload(), {}, {}, {}, {}, {}, {}};
    to.inputs.assign(from.input().begin(), from.input().end());
    to.outputs.assign(from.output().begin(), from.output().end());
    to.attributes.assign(from.attribute().begin(), from.attribute().end());
    const std::string place = "function '" + from.name() + "'";
    for (const wire::Attribute& a : from.attribute_proto()) to.with_default.push_back(attribute(a, place, 1));
    for (const wire::Node& n : from.node()) to.nodes.push_back(node(n, to.nodes.size(), 1));
    to.opsets = opsets(from.opset_import(), place);
    return to;
  }

  template <class Repeated>
  static Opsets opsets(const Repeated& from, const std::string& place) {
    Opsets to;
    for (const wire::OperatorSet& set : from) {
      const std::string domain = set.domain() == "ai.onnx" ? "" : set.domain();
      if (!to.emplace(domain, set.version()).second)
        throw ModelError{place, "two versions of the operator set '" + (domain.empty() ? "ai.onnx" : domain) + "'"};
    }
    return to;
  }

 private:
  Node node(const wire::Node& from, std::size_t position, int depth) {
    Node to{from.name(), from.op_type(), from.domain() == "ai.onnx" ? "" : from.domain(), from.overload(), {}, {}, {}};
    to.inputs.assign(from.input().begin(), from.input().end());
    to.outputs.assign(from.output().begin(), from.output().end());
    const std::string place = describe(to, position);
    for (const wire::Attribute& a : from.attribute()) {
      for (const Attribute& other : to.attributes)
        if (other.name == a.name()) throw ModelError{place, "attribute '" + a.name() + "' is there twice"};
      to.attributes.push_back(attribute(a, place, depth));
    }
    return to;
  }

  Attribute attribute(const wire::Attribute& a, const std::string& place, int depth) {
    Attribute to{a.name(), a.ref_attr_name(), {}};
    if (to.reference.empty()) to.value = value(a, place + ", attribute '" + a.name() + "'", depth);
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
      if (entry.key() == "location") files_.insert(folder_ / entry.value());
    return decode_tensor(from, folder_, place);
  }

  std::filesystem::path folder_;
  std::int64_t ir_version_;
  std::set<std::filesystem::path> files_;
};

template <class Message>
void parse(Message& message, std::string_view bytes, const char* what) {
  google::protobuf::SetLogHandler(nullptr);  // what is wrong is said by the exception
  if (bytes.size() > static_cast<std::size_t>(INT32_MAX))
    throw ModelError{"", "the file has over 2 GB: keep its tensors in files beside it"};
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    throw ModelError{"", std::string("not ") + what + ": the file is damaged, cut off, or of another kind"};
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
  if (!node.name.empty()) text += " '" + node.name + "'";
  return text + " (" + (node.domain.empty() ? "" : node.domain + ".") + node.op + ")";
}

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
  to.opsets = Reader::opsets(from.opset_import(), "");
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
  auto value = decode_tensor(from, file.parent_path(), "");
  if (auto* tensor = std::get_if<Tensor>(&value)) return std::move(*tensor);
  throw ModelError{"", "tensors of texts are not supported"};
}

}  // namespace rml::onnx
