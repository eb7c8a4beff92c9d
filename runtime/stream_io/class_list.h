// Classes by their names: line k of a file, from 0, is class k.
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
  // Throws Failure for a file that cannot be read, or in which a class is empty or there twice.
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
