// Maps the names of classes to numbers: line k of a file, counted from 0, is the name of class k.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rml::rt {

class ClassList {
 public:
  // Throws Failure if the file cannot be read, or if a name is empty or repeated.
  static ClassList read(const std::string& path);

  const std::string& file() const { return file_; }
  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::int64_t> find(const std::string& name) const;

 private:
  std::string file_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int64_t> classes_;
};

}  // namespace rml::rt
