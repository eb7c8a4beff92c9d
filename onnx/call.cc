// Reads inputs and attributes of a node and checks them against its row; contains the table of
// operators (call.h).
#include "onnx/call.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace rml::onnx {

namespace {

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> table;
    for (auto* family : {elementwise_rows, activation_rows, shape_rows, indexing_rows, reduction_rows, product_rows,
                         window_rows, normalization_rows, loss_rows, resize_rows, recurrent_rows, control_rows})
      for (const Row& row : family()) table.push_back(row);
    std::ranges::sort(table, {}, [](const Row& r) { return std::pair(r.domain, r.op); });
    return table;
  }();
  return all;
}

bool is_kind(const AttributeValue& value, std::string_view kind) {
  if (kind == "f") return std::holds_alternative<float>(value);
  if (kind == "i") return std::holds_alternative<std::int64_t>(value);
  if (kind == "s") return std::holds_alternative<std::string>(value);
  if (kind == "t") return std::holds_alternative<Tensor>(value) || std::holds_alternative<Texts>(value);
  if (kind == "g") return std::holds_alternative<std::shared_ptr<const Graph>>(value);
  if (kind == "floats") return std::holds_alternative<std::vector<float>>(value);
  if (kind == "ints") return std::holds_alternative<std::vector<std::int64_t>>(value);
  return kind == "texts" && std::holds_alternative<std::vector<std::string>>(value);
}

std::string_view kind_name(std::string_view kind) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"f", "a float"},
                                                                     {"i", "an integer"},
                                                                     {"s", "a text"},
                                                                     {"t", "a tensor"},
                                                                     {"g", "a graph"},
                                                                     {"floats", "a list of floats"},
                                                                     {"ints", "a list of integers"},
                                                                     {"texts", "a list of texts"}};
  for (const auto& [short_name, name] : names)
    if (short_name == kind) return name;
  return kind;
}

// An empty list has no kind, so it is accepted for every kind of list.
bool is_empty_list(const AttributeValue& value) { return std::holds_alternative<std::monostate>(value); }

std::string attribute_mismatch(std::string_view spec, const Node& node) {
  std::vector<std::string_view> known;
  for (std::size_t at = 0; at < spec.size();) {
    const std::size_t end = std::min(spec.find(' ', at), spec.size());
    std::string_view entry = spec.substr(at, end - at);
    at = end + 1;
    const bool required = entry.ends_with('!');
    if (required) entry.remove_suffix(1);
    const std::size_t colon = entry.find(':');
    const std::string_view name = entry.substr(0, colon), kind = entry.substr(colon + 1);
    known.push_back(name);
    const auto found = std::ranges::find(node.attributes, name, &NodeAttribute::name);
    if (found == node.attributes.end()) {
      if (required) return "attribute '" + std::string(name) + "' is missing";
    } else if (!is_kind(found->value, kind) && !(is_empty_list(found->value) && kind.size() > 1)) {
      return "attribute '" + std::string(name) + "' must be " + std::string(kind_name(kind));
    }
  }
  for (const NodeAttribute& a : node.attributes)
    if (std::ranges::find(known, a.name) == known.end()) return "it has no attribute " + in_quotes(a.name);
  return "";
}

}  // namespace

const Row* find_row(std::string_view domain, std::string_view op) {
  const auto at = std::ranges::lower_bound(rows(), std::pair(domain, op), {},
                                           [](const Row& r) { return std::pair(r.domain, r.op); });
  return at != rows().end() && at->domain == domain && at->op == op ? &*at : nullptr;
}

std::vector<const Row*> all_rows() {
  std::vector<const Row*> all;
  for (const Row& row : rows()) all.push_back(&row);
  return all;
}

std::string mismatch(const Row& row, const Node& node) {
  const auto count = static_cast<int>(node.inputs.size());
  if (count < row.least_inputs)
    return "it has " + std::to_string(count) + " inputs, but needs " + std::to_string(row.least_inputs);
  if (row.most_inputs >= 0 && count > row.most_inputs)
    return "it has " + std::to_string(count) + " inputs, but takes at most " + std::to_string(row.most_inputs);
  for (int k = 0; k < row.least_inputs; ++k)
    if (node.inputs[static_cast<std::size_t>(k)].empty()) return "input " + std::to_string(k) + " is left out";
  if (row.most_outputs >= 0 && static_cast<int>(node.outputs.size()) > row.most_outputs)
    return "it has " + std::to_string(node.outputs.size()) + " outputs, but can have at most " +
           std::to_string(row.most_outputs);
  return attribute_mismatch(row.attributes, node);
}

const Term& Call::in(std::size_t k) const {
  if (!has(k)) throw ModelError{"", "input " + std::to_string(k) + " is left out"};
  return *inputs_[k];
}

std::vector<Term> Call::all_inputs() const {
  std::vector<Term> all;
  for (std::size_t k = 0; k < inputs_.size(); ++k) all.push_back(in(k));
  return all;
}

const AttributeValue* Call::find(std::string_view attribute) const {
  const auto at = std::ranges::find(node.attributes, attribute, &NodeAttribute::name);
  return at == node.attributes.end() || std::holds_alternative<std::monostate>(at->value) ? nullptr : &at->value;
}

std::int64_t Call::integer(std::string_view attribute, std::int64_t fallback) const {
  const AttributeValue* value = find(attribute);
  return value != nullptr ? std::get<std::int64_t>(*value) : fallback;
}

double Call::number(std::string_view attribute, double fallback) const {
  const AttributeValue* value = find(attribute);
  return value != nullptr ? static_cast<double>(std::get<float>(*value)) : fallback;
}

std::string Call::text(std::string_view attribute, std::string fallback) const {
  const AttributeValue* value = find(attribute);
  if (value != nullptr) fallback = std::get<std::string>(*value);
  return fallback;
}

std::vector<std::int64_t> Call::integers(std::string_view attribute, std::vector<std::int64_t> fallback) const {
  const AttributeValue* value = find(attribute);
  if (value != nullptr) fallback = std::get<std::vector<std::int64_t>>(*value);
  return fallback;
}

std::vector<float> Call::numbers(std::string_view attribute) const {
  const AttributeValue* value = find(attribute);
  return value != nullptr ? std::get<std::vector<float>>(*value) : std::vector<float>{};
}

std::vector<std::string> Call::texts(std::string_view attribute) const {
  const AttributeValue* value = find(attribute);
  return value != nullptr ? std::get<std::vector<std::string>>(*value) : std::vector<std::string>{};
}

const Tensor* Call::tensor(std::string_view attribute) const {
  const AttributeValue* value = find(attribute);
  if (value == nullptr) return nullptr;
  if (std::holds_alternative<Texts>(*value)) throw ModelError{"", "tensors of texts are not supported"};
  return &std::get<Tensor>(*value);
}

const Graph& Call::graph(std::string_view attribute) const {
  const AttributeValue* value = find(attribute);
  if (value == nullptr) throw ModelError{"", "attribute '" + std::string(attribute) + "' is missing"};
  return *std::get<std::shared_ptr<const Graph>>(*value);
}

const Tensor& Call::known(std::size_t k, const char* what) const {
  const Term& term = in(k);
  if (!term.known()) throw NeedsValue{"", what, identifier(term.text) == term.text ? term.text : ""};
  return *term.value;
}

std::vector<std::int64_t> Call::known_integers(std::size_t k, const char* what) const {
  const Tensor& value = known(k, what);
  if (!is_integer(value.dtype())) throw ModelError{"", std::string(what) + " are not integers"};
  if (value.shape().size() > 1) throw ModelError{"", std::string(what) + " have the shape " + to_string(value.shape())};
  return value.integers();
}

std::int64_t Call::known_integer(std::size_t k, const char* what) const {
  const Tensor& value = known(k, what);
  if (value.elements() != 1 || !is_integer(value.dtype()))
    throw ModelError{"", std::string(what) + " must be one integer, not " + type_string(value.dtype(), value.shape())};
  return value.integers()[0];
}

std::optional<std::vector<std::int64_t>> Call::axes(std::size_t k, int input_since, const char* attribute) const {
  if (version < input_since) {
    if (!has(attribute)) return std::nullopt;
    return integers(attribute);
  }
  if (!has(k)) return std::nullopt;
  return known_integers(k, "the axes");
}

std::int64_t normalized(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    throw ModelError{"", "axis " + std::to_string(axis) + " does not exist: the rank is " + std::to_string(rank)};
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> normalized(std::vector<std::int64_t> axes, std::int64_t rank) {
  std::set<std::int64_t> seen;
  for (std::int64_t& axis : axes) {
    axis = normalized(axis, rank);
    if (!seen.insert(axis).second) throw ModelError{"", "axis " + std::to_string(axis) + " is named twice"};
  }
  return axes;
}

}  // namespace rml::onnx
