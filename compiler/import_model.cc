// Translates the options of the command line into those of the importer, and its errors into
// diagnostics.
#include "compiler/import_model.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "semantics/values/read_element.h"

namespace rml {
namespace {

struct WrongOption {
  std::string option, why;
};

// Splits NAME=VALUE at the first equals sign.
std::pair<std::string, std::string> halves(const char* option, const std::string& text, const char* form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw WrongOption{std::string(option) + " " + text, std::string("write it as ") + form};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::int64_t extent(const std::string& option, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0 || value > max_elements)
    throw WrongOption{option, "'" + text + "' is not the extent of an axis"};
  return value;
}

// ---- values on the command line: 3, [1, 2], [[1, 2], [3, 4]]

void flatten(const nlohmann::json& value, std::size_t axis, Shape& shape, std::vector<std::string>& elements) {
  if (!value.is_array()) {
    if (axis != shape.size()) throw std::invalid_argument("its rows are not all of one length");
    if (!value.is_number() && !value.is_boolean())
      throw std::invalid_argument("it contains a value that is not a number");
    elements.push_back(value.dump());
    return;
  }
  const auto length = static_cast<std::int64_t>(value.size());
  if (axis == shape.size() && elements.empty()) shape.push_back(length);
  if (axis >= shape.size() || shape[axis] != length) throw std::invalid_argument("its rows are not all of one length");
  for (const auto& part : value) flatten(part, axis + 1, shape, elements);
}

std::shared_ptr<const Tensor> tensor_of(const std::string& option, const std::string& text, DType dtype) {
  try {
    Shape shape;
    std::vector<std::string> elements;
    flatten(nlohmann::json::parse(text), 0, shape, elements);
    if (shape.size() > max_rank) throw std::invalid_argument("it has too many axes");
    auto tensor = std::make_shared<Tensor>(dtype, shape);
    auto* to = static_cast<std::byte*>(tensor->data());
    for (const std::string& e : elements) {
      if (!read_element(dtype, e, to))
        throw std::invalid_argument(e + " is not a value of type " + std::string(name(dtype)));
      to += byte_size(dtype);
    }
    return tensor;
  } catch (const nlohmann::json::exception&) {
    throw WrongOption{option, "'" + text + "' is not a value: write 3, or [1, 2]"};
  } catch (const std::invalid_argument& wrong) {
    throw WrongOption{option, "'" + text + "': " + wrong.what()};
  }
}

void fix(const std::string& text, const onnx::Model& model, onnx::ImportOptions& options) {
  const auto [name, value] = halves("--fix", text, "INPUT=VALUE");
  const std::string option = "--fix " + text;
  const onnx::ValueInfo* input = nullptr;
  for (const onnx::ValueInfo& v : model.graph.inputs)
    if (v.name == name) input = &v;
  if (input == nullptr) throw WrongOption{option, "the model has no input '" + name + "'"};
  const auto dtype = onnx::dtype_of(input->type.element_type);
  if (!dtype) return;  // returns without a message, because the importer reports an unknown dtype
  const auto tensor = tensor_of(option, value, *dtype);
  bool fits = !input->type.shape || input->type.shape->size() == tensor->shape().size();
  for (std::size_t k = 0; fits && input->type.shape && k < tensor->shape().size(); ++k)
    fits = (*input->type.shape)[k].extent < 0 || (*input->type.shape)[k].extent == tensor->shape()[k];
  if (!fits) throw WrongOption{option, "the input does not have the shape " + to_string(tensor->shape())};
  options.shapes[name] = tensor->shape();
  options.fixed[name] = tensor;
}

// Each text is AXIS, for the first input, or INPUT.AXIS.
onnx::StreamOptions streams(const std::vector<std::string>& texts, const onnx::Model& model) {
  onnx::StreamOptions stream;
  std::set<std::string> initial;
  for (const onnx::Initializer& t : model.graph.initializers) initial.insert(t.name);
  for (const std::string& text : texts) {
    const std::string option = "--stream " + text;
    const std::size_t dot = text.rfind('.');
    const std::string wanted = dot == std::string::npos ? "" : text.substr(0, dot);
    const auto input = std::ranges::find_if(model.graph.inputs, [&](const onnx::ValueInfo& v) {
      return wanted.empty() ? !initial.contains(v.name) : v.name == wanted;
    });
    if (input == model.graph.inputs.end())
      throw WrongOption{option, wanted.empty() ? "the model has no input" : "the model has no input '" + wanted + "'"};
    const std::int64_t axis = extent(option, text.substr(dot == std::string::npos ? 0 : dot + 1));
    if (!input->type.shape || axis >= static_cast<std::int64_t>(input->type.shape->size()))
      throw WrongOption{option, "the input '" + input->name + "' has no axis " + std::to_string(axis)};
    stream.axes[input->name] = axis;
  }
  return stream;
}

onnx::ImportOptions import_options(const ModelOptions& given, std::uint64_t most_nodes, const onnx::Model& model) {
  onnx::ImportOptions options;
  options.most_nodes = static_cast<std::int64_t>(std::min(most_nodes, std::uint64_t{1} << 40));
  for (const std::string& text : given.dimensions) {
    const auto [name, value] = halves("--dim", text, "NAME=EXTENT");
    options.dimensions[name] = extent("--dim " + text, value);
  }
  for (const std::string& text : given.fixed) fix(text, model, options);
  for (const std::string& text : given.states) options.states.push_back(halves("--state", text, "INPUT=OUTPUT"));
  options.trainable = given.trainable;
  options.all_values = given.all_values;
  if (!given.streams.empty()) options.stream = streams(given.streams, model);
  return options;
}

}  // namespace

bool is_model(const std::filesystem::path& file) { return file.extension() == ".onnx"; }

std::optional<onnx::Imported> import_model(Session& session, const std::filesystem::path& file,
                                           const std::string& weights_file) {
  const auto refused = [&](const onnx::ModelError& e) {
    session.diagnostics.report(Code::E0807, {},
                               file.string() + ": " + (e.place.empty() ? "" : e.place + ": ") + e.message);
  };
  errno = 0;
  if (!std::filesystem::is_regular_file(file) || !std::ifstream(file)) {
    const std::string reason =
        std::filesystem::exists(file) && errno == 0 ? "not a regular file" : std::strerror(errno);
    session.diagnostics.report(Code::E0801, {}, "cannot read `" + file.string() + "`: " + reason);
    return std::nullopt;
  }
  try {
    const onnx::Model model = onnx::read_model(file);
    for (const auto& beside : model.files) session.files->note(beside.string());
    onnx::ImportOptions options = import_options(session.options.model, session.options.limits.nodes, model);
    options.weights_file = weights_file;
    auto result = onnx::import(model, options);
    if (auto* done = std::get_if<onnx::Imported>(&result)) {
      const std::string mixed =
          options.stream ? session.resources.what_mixes_steps(model, options, *done, session.resources) : "";
      if (mixed.empty()) return std::move(*done);
      refused({"", mixed});
      return std::nullopt;
    }
    constexpr std::size_t most_told = 100;
    const auto& errors = std::get<onnx::ImportFailure>(result).errors;
    for (const onnx::ModelError& e : errors | std::views::take(most_told)) refused(e);
    if (errors.size() > most_told) refused({"", "and " + std::to_string(errors.size() - most_told) + " more errors"});
  } catch (const onnx::ModelError& e) {
    refused(e);
  } catch (const WrongOption& wrong) {
    session.diagnostics.report(Code::E0902, {}, wrong.option + ": " + wrong.why);
  }
  return std::nullopt;
}

void give_weights(LoadedFiles& files, const onnx::Imported& model) {
  for (const onnx::Weight& w : model.weights) files.give(model.weights_file, w.name, w.value);
}

}  // namespace rml
