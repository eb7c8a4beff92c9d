// Finds symbols that a shared library itself defines. dlsym also finds those of the libraries
// that it depends on, such as the C library, but a source may only reach functions of files that
// were named.
#pragma once

#include <dlfcn.h>
#include <link.h>

namespace rml::rt {

// The address of a symbol defined by the library of the handle; null if it does not define the
// symbol.
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
