// The library is opened with RTLD_LOCAL, so its symbols do not become symbols of the process.
#include "compiler/shared_library.h"

#include <dlfcn.h>

#include "runtime/base/own_symbol.h"

namespace rml {

SharedLibrary::SharedLibrary(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* const reason = dlerror();
  error_ = reason != nullptr ? reason : "unknown reason";
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::find(const std::string& symbol) const { return rt::own_symbol(handle_, symbol.c_str()); }

}  // namespace rml
