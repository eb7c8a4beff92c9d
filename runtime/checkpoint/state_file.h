// Compares the tensors that a program expects in a saved state with the tensors of a file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/safetensors.h"

namespace rml::rt {

class StateFile {
 public:
  // `name` is for messages. All arguments must outlive this object.
  StateFile(const rml_program& program, const std::string& name, const Safetensors& content);

  bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
  const TensorIn& tensor(const std::string& tensor) const { return *tensors_.at(tensor); }
  // The numbers of a tensor of counts, each checked to be in 0 … 2^62.
  std::vector<std::int64_t> counts(const std::string& tensor) const;

  // Checks that the file has this tensor. With `many`, it has any number of elements of this shape.
  void expect(const std::string& tensor, std::uint8_t dtype, std::vector<std::uint64_t> shape, bool many);
  // Also expects the first values that were given to parameters.
  void expect_given();
  // Throws Failure that lists all differences. Otherwise all Booleans are 0 or 1.
  void compare();
  // Adds a note that follows the differences.
  void note(const std::string& text) { note_ = "\n  " + text; }

  [[noreturn]] void damaged(const std::string& what) const;
  [[noreturn]] void too_large(std::uint64_t bytes) const;

 private:
  void differs(const std::string& line);
  std::string proposal() const;
  void check_truths() const;

  const rml_program& program_;
  const std::string& name_;
  std::map<std::string, const TensorIn*> tensors_;
  std::set<std::string> expected_;
  // Names and types of tensors that only the program or only the file has.
  std::vector<std::pair<std::string, std::string>> missing_, extra_;
  std::string text_, note_;
  int differences_ = 0;
};

// The tensor name of a first value that was given to a parameter but not read yet.
std::string given_name(const std::string& path);
// The name of a memory of the file whose name belongs to another variable in the program.
std::string name_elsewhere(const std::string& name, const std::string& variable);
// The tensor name of an output's curve, which is not part of the state.
std::string curve_name(const std::string& output);

}  // namespace rml::rt
