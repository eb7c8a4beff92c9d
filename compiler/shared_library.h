// Opens a shared library for the lifetime of the object, and finds its functions.
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
  const std::string& error() const { return error_; }  // the reason why the library is not open
  // Finds a function that the library itself defines; null if there is none.
  void* find(const std::string& symbol) const;

 private:
  void* handle_;
  std::string error_;
};

}  // namespace rml
