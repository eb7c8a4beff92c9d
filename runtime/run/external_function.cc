// Finds the functions of shared libraries that a program calls, before the program starts
// (lowering/llvm/toolchain/bind_shared.h).
//
// The library is opened with local symbols, so its functions do not replace other functions that
// the program calls. If the library is no longer at the path that it had when the program was
// built, the loader searches its usual places for the file name (LD_LIBRARY_PATH).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/base/own_symbol.h"
#include "runtime/base/rmlrt.h"

namespace {

[[noreturn]] void stop(const char* file, const char* what) {
  std::fprintf(stderr, "cannot use library %s: %s\n", file, what);
  _exit(127);  // the exit status of a loader that does not find a library
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
