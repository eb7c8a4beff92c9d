// Inputs and outputs whose cells in CSV are texts: --classes and --time.
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
  // Reads the lists. Throws Failure for one that is wrong, and with status 2 for names and types that are.
  ColumnTexts(const Reading& reading, const Row& inputs, const Row& outputs);

  // The values of these ports are numbers of keys from now on, whose texts the table has.
  void use_keys(KeyTable& keys, std::uint32_t input, std::uint32_t output);
  bool is_key(std::uint32_t input) const { return keys_ != nullptr && input == key_input_; }
  // Null: the output is no key.
  const KeyTable* keys_of(std::uint32_t output) const {
    return keys_ != nullptr && output == key_output_ ? keys_ : nullptr;
  }

  bool any() const { return keys_ != nullptr || !classes_.empty() || !times_.empty(); }
  bool any_of(const std::vector<std::uint32_t>& outputs) const;
  // Null: the cells are numbers.
  const ClassList* of_output(std::uint32_t port) const;
  // … and no input has them by the same name.
  bool of_output_alone(std::uint32_t port) const;
  bool of_input(std::uint32_t port) const { return is_key(port) || by_input_.contains(port) || times_.contains(port); }
  // The value that the text stands for; false where it stands for none.
  bool parse(const rml_port& port, std::uint32_t input, const std::string& text, void* to) const;
  // Why it does not.
  std::string complaint(std::uint32_t input, const std::string& text) const;

 private:
  void add_classes(const std::string& argument, const Row& inputs, const Row& outputs);
  void add_time(const std::string& argument, const Row& inputs);

  std::vector<ClassList> classes_;
  std::map<std::uint32_t, std::size_t> by_input_, by_output_;  // in classes_
  std::map<std::uint32_t, TimeFormat> times_;                  // by input
  KeyTable* keys_ = nullptr;                                   // null: there are none, or they are no texts
  std::uint32_t key_input_ = 0, key_output_ = 0;
};

}  // namespace rml::rt
