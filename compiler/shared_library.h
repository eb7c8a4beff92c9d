// A shared library that is open as long as somebody holds it, and what it defines.
#pragma once

#include <string>

namespace rml {

class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& path);
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  bool open() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }  // why it is not open
  // What it defines itself; null where it does not.
  void* find(const std::string& symbol) const;

 private:
  void* handle_;
  std::string error_;
};

}  // namespace rml
