// Where programs find external functions of shared libraries, before they begin
// (lowering/llvm/toolchain/bind_shared.h).
//
// The library is opened for itself: its functions take no place of functions that the program calls. If it is no longer
// where it was when the program was built, the loader looks for its name where it looks for all (LD_LIBRARY_PATH).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/base/own_symbol.h"
#include "runtime/base/rmlrt.h"

namespace {

[[noreturn]] void stop(const char* file, const char* what) {
  std::fprintf(stderr, "cannot use library %s: %s\n", file, what);
  _exit(127);  // as a loader that does not find one
}

}  // namespace

extern "C" void* rml_external_function(const char* file, const char* name) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    static char text[1024];
    std::snprintf(text, sizeof text, "%s", reason != nullptr ? reason : "unknown reason");
    const char* const slash = std::strrchr(file, '/');
    if (access(file, F_OK) == 0 || slash == nullptr) stop(file, text);
    library = dlopen(slash + 1, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) stop(file, text);
  }
  void* const address = rml::rt::own_symbol(library, name);
  if (address != nullptr) return address;
  static char missing[1024];
  std::snprintf(missing, sizeof missing, "it has no function %s", name);
  stop(file, missing);
}
