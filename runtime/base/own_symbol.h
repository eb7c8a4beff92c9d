// What a shared library defines itself: dlsym also finds what the libraries that it needs define, the C library's
// functions among them, and a source must reach those only by a file that was named.
#pragma once

#include <dlfcn.h>
#include <link.h>

namespace rml::rt {

// The address of a symbol that the library behind the handle defines; null if it defines none.
inline void* own_symbol(void* library, const char* symbol) {
  void* const address = dlsym(library, symbol);
  Dl_info where;
  link_map *found = nullptr, *wanted = nullptr;
  if (address == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &wanted) != 0 ||
      dladdr1(address, &where, reinterpret_cast<void**>(&found), RTLD_DL_LINKMAP) == 0)
    return nullptr;
  return found == wanted ? address : nullptr;
}

}  // namespace rml::rt
