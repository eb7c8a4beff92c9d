// What a program wants to find in a saved state, compared with what is there.
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
  // `name` is for messages; all must outlive this.
  StateFile(const rml_program& program, const std::string& name, const Safetensors& content);

  bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
  const TensorIn& tensor(const std::string& tensor) const { return *tensors_.at(tensor); }
  // Whole numbers from 0 to 2^62.
  std::vector<std::int64_t> counts(const std::string& tensor) const;

  // many: any number of such elements.
  void expect(const std::string& tensor, std::uint8_t dtype, std::vector<std::uint64_t> shape, bool many);
  // What has been given to parameters.
  void expect_given();
  // Throws Failure that names all that differs; then Booleans are 0 or 1.
  void compare();
  // Said behind what differs.
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
  std::vector<std::pair<std::string, std::string>> missing_, extra_;  // name and type
  std::string text_, note_;
  int differences_ = 0;
};

// The name under which a parameter is kept that was given and not looked at.
std::string given_name(const std::string& path);
// The name of what has this one in the file, but is another variable's here.
std::string name_elsewhere(const std::string& name, const std::string& variable);
// The name of an output's curve, which is no part of the state.
std::string curve_name(const std::string& output);

}  // namespace rml::rt
