// Converts cells of CSV, and texts of JSON, to values and back: names of classes (--classes),
// times (--time) and keys that are texts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/key_table.h"
#include "runtime/stream_io/class_list.h"
#include "runtime/stream_io/reading.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/time_format.h"

namespace rml::rt {

class ColumnTexts {
 public:
  // Reads the lists of classes. Throws Failure for a wrong list, and with status 2 for wrong
  // names or types of ports.
  ColumnTexts(const Reading& reading, const Row& inputs, const Row& outputs);

  // From now on, the values of these two ports are numbers of keys, whose texts are in the table.
  void use_keys(KeyTable& keys, std::uint32_t input, std::uint32_t output);
  // From now on, the values of the input are numbers of groups of rows (--segments-by).
  void use_groups(KeyTable& groups, std::uint32_t input) {
    use_keys(groups, input, UINT32_MAX);
    of_groups_ = true;
  }
  // "key" or "group": the word for the meaning of the texts.
  const char* key_word() const { return of_groups_ ? "group" : "key"; }
  bool is_key(std::uint32_t input) const { return keys_ != nullptr && input == key_input_; }
  // The table of keys if the output is a key that is a text, otherwise null.
  const KeyTable* keys_of(std::uint32_t output) const {
    return keys_ != nullptr && output == key_output_ ? keys_ : nullptr;
  }

  bool any() const { return keys_ != nullptr || !classes_.empty() || !times_.empty(); }
  bool any_of(const std::vector<std::uint32_t>& outputs) const;
  // The classes of an output; null if its cells are numbers.
  const ClassList* of_output(std::uint32_t port) const;
  // True if the output has classes and no input of the same name has them.
  bool of_output_alone(std::uint32_t port) const;
  bool of_input(std::uint32_t port) const { return is_key(port) || by_input_.contains(port) || times_.contains(port); }
  // Stores the value that the text stands for; false if it stands for none.
  bool parse(const rml_port& port, std::uint32_t input, const std::string& text, void* to) const;
  // The error message for a text that `parse` rejected.
  std::string complaint(std::uint32_t input, const std::string& text) const;

 private:
  void add_classes(const std::string& argument, const Row& inputs, const Row& outputs);
  void add_time(const std::string& argument, const Row& inputs);

  std::vector<ClassList> classes_;
  std::map<std::uint32_t, std::size_t> by_input_, by_output_;  // indices into classes_, by input and by output
  std::map<std::uint32_t, TimeFormat> times_;                  // formats of times, by input
  KeyTable* keys_ = nullptr;                                   // the keys that are texts; null: keys are not texts
  std::uint32_t key_input_ = 0, key_output_ = 0;
  bool of_groups_ = false;
};

// Throws Failure if an element of the output is the number of no class. file, number: the place of
// the row, for the message.
void require_classes(const Row& row, std::uint32_t port, const ClassList& classes, const std::string& file,
                     std::int64_t number);
// The name of the class of an element, after require_classes.
const std::string& class_name(const Row& row, std::uint32_t port, std::uint64_t element, const ClassList& classes);

}  // namespace rml::rt
