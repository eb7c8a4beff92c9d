// An argument NAME=FILE or NAME=FORMAT refers to inputs and outputs by name; a list of classes
// may serve both.
#include "runtime/stream_io/column_texts.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/readable.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

struct Named {
  std::string name, text;
};

Named split(const std::string& option, const std::string& argument, const char* form) {
  const std::size_t equals = argument.find('=');
  if (equals == argument.npos || equals == 0 || equals + 1 == argument.size())
    throw Failure(option + ": expected " + form, exit_usage);
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::optional<std::uint32_t> port_named(const Row& row, const std::string& name) {
  for (std::uint32_t i = 0; i < row.size(); ++i)
    if (name == row.port(i).name) return i;
  return std::nullopt;
}

std::vector<std::string> names_of(const Row& row) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < row.size(); ++i) names.emplace_back(row.port(i).name);
  return names;
}

bool is_integer(std::uint8_t dtype) { return dtype != RML_BOOL && !is_float(dtype); }

// A float without a value that was written as a text. Other words, such as NA, may be names.
bool is_nan(const std::string& text) {
  return text.size() == 3 && (text[0] | 0x20) == 'n' && (text[1] | 0x20) == 'a' && (text[2] | 0x20) == 'n';
}

// True if the type can represent the number of every class. A signed type has one bit less for
// it.
bool fits(std::size_t classes, std::uint8_t dtype) {
  const std::uint64_t bits = 8 * dtype_bytes(dtype) - (is_unsigned(dtype) ? 0 : 1);
  return bits >= 32 || classes <= std::uint64_t{1} << bits;
}

void require_integer(const std::string& option, const rml_port& port, std::size_t classes) {
  const std::string stream = "'" + std::string(port.name) + "'";
  if (!is_integer(port.dtype))
    throw Failure(option + ": " + stream + " is " + type_text(port) + "; classes are integers, such as i32",
                  exit_usage);
  if (!fits(classes, port.dtype))
    throw Failure(option + ": " + std::to_string(classes) + " classes are too many for " + stream + ", which is " +
                      type_text(port),
                  exit_usage);
}

}  // namespace

ColumnTexts::ColumnTexts(const Reading& reading, const Row& inputs, const Row& outputs) {
  for (const std::string& argument : reading.classes) add_classes(argument, inputs, outputs);
  for (const std::string& argument : reading.times) add_time(argument, inputs);
}

void ColumnTexts::add_classes(const std::string& argument, const Row& inputs, const Row& outputs) {
  const std::string option = "--classes " + argument;
  const auto [name, file] = split(option, argument, "NAME=FILE");
  const auto input = port_named(inputs, name), output = port_named(outputs, name);
  if (!input && !output) {
    std::vector<std::string> known = names_of(inputs);
    const std::vector<std::string> more = names_of(outputs);
    known.insert(known.end(), more.begin(), more.end());
    throw Failure(option + ": no input or output '" + name + "'" + did_you_mean(name, known), exit_usage);
  }
  if ((input && by_input_.contains(*input)) || (output && by_output_.contains(*output)))
    throw Failure(option + ": '" + name + "' has classes already", exit_usage);
  ClassList list = ClassList::read(file);
  if (input) require_integer(option, inputs.port(*input), list.names().size());
  if (output) require_integer(option, outputs.port(*output), list.names().size());
  if (input) by_input_[*input] = classes_.size();
  if (output) by_output_[*output] = classes_.size();
  classes_.push_back(std::move(list));
}

void ColumnTexts::add_time(const std::string& argument, const Row& inputs) {
  const std::string option = "--time " + argument;
  const auto [name, format] = split(option, argument, "NAME=FORMAT, such as t=%Y-%m-%dT%H:%M:%S");
  const auto input = port_named(inputs, name);
  if (!input) throw Failure(option + ": no input '" + name + "'" + did_you_mean(name, names_of(inputs)), exit_usage);
  const rml_port& port = inputs.port(*input);
  if (port.dtype != RML_F64)
    throw Failure(option + ": '" + name + "' is " + type_text(port) + "; seconds since 1970 need f64", exit_usage);
  if (!times_.emplace(*input, TimeFormat(option, format)).second)
    throw Failure(option + ": '" + name + "' has a format already", exit_usage);
}

void ColumnTexts::use_keys(KeyTable& keys, std::uint32_t input, std::uint32_t output) {
  keys_ = &keys;
  key_input_ = input;
  key_output_ = output;
}

bool ColumnTexts::any_of(const std::vector<std::uint32_t>& outputs) const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](std::uint32_t i) { return keys_of(i) != nullptr || by_output_.contains(i); });
}

const ClassList* ColumnTexts::of_output(std::uint32_t port) const {
  const auto found = by_output_.find(port);
  return found == by_output_.end() ? nullptr : &classes_[found->second];
}

bool ColumnTexts::of_output_alone(std::uint32_t port) const {
  const auto found = by_output_.find(port);
  return found != by_output_.end() && std::none_of(by_input_.begin(), by_input_.end(),
                                                   [&](const auto& input) { return input.second == found->second; });
}

bool ColumnTexts::parse(const rml_port& port, std::uint32_t input, const std::string& text, void* to) const {
  if (is_key(input)) {
    if (is_nan(text)) return false;
    const std::uint32_t known = keys_->size(), key = keys_->number(text);
    // If the text is not valid UTF-8, the run stops or drops the row, so nothing reads the key that was just added.
    if (key == known && !is_utf8(text)) return false;
    std::memcpy(to, &key, sizeof key);
    return true;
  }
  if (const auto time = times_.find(input); time != times_.end()) {
    const auto seconds = time->second.seconds(text);
    if (seconds) std::memcpy(to, &*seconds, sizeof *seconds);
    return seconds.has_value();
  }
  // Numbers are little-endian, so the first bytes are the value as a narrower integer.
  const auto number = classes_[by_input_.at(input)].find(text);
  if (number) std::memcpy(to, &*number, dtype_bytes(port.dtype));
  return number.has_value();
}

std::string ColumnTexts::complaint(std::uint32_t input, const std::string& text) const {
  if (is_key(input) && !is_utf8(text))
    return "'" + text + "' is not UTF-8, as keys must be: iconv -t UTF-8 -f ENCODING converts the file";
  if (is_key(input)) return "'" + text + "' is not a " + key_word() + ": every row needs one";
  if (const auto time = times_.find(input); time != times_.end())
    return "'" + text + "' is not a time such as " + time->second.example();
  const ClassList& list = classes_[by_input_.at(input)];
  return "'" + text + "' is not a class of '" + list.file() + "'" + did_you_mean(text, list.names());
}

namespace {

std::string number_of(const Row& row, std::uint32_t port, std::uint64_t element) {
  char text[longest_scalar];
  return {text, format_scalar(row.port(port).dtype, row.element(port, element), text, BoolText::word)};
}

std::size_t class_of(const std::string& number, const ClassList& classes) {
  std::size_t of = classes.names().size();
  std::from_chars(number.data(), number.data() + number.size(), of);
  return of;
}

}  // namespace

void require_classes(const Row& row, std::uint32_t port, const ClassList& classes, const std::string& file,
                     std::int64_t number) {
  for (std::uint64_t k = 0; k < row.port(port).elements; ++k) {
    const std::string value = number_of(row, port, k);
    if (class_of(value, classes) >= classes.names().size())
      throw Failure(file + ": row " + std::to_string(number) + ": output '" + row.port(port).name + "' is " + value +
                    ", but '" + classes.file() + "' has the classes 0 to " +
                    std::to_string(classes.names().size() - 1));
  }
}

const std::string& class_name(const Row& row, std::uint32_t port, std::uint64_t element, const ClassList& classes) {
  return classes.names()[class_of(number_of(row, port, element), classes)];
}

}  // namespace rml::rt
