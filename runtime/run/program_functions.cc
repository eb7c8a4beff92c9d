// Searches the generated table of the runtime's functions by bisection, then libm and libc.
#include "runtime/run/program_functions.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>

#include <algorithm>
#include <string_view>

#include "runtime/base/own_symbol.h"

namespace rml::rt {
namespace {

// Functions of ThreadSanitizer, for programs that were compiled with it, are looked up in the
// process.
void* find_sanitizer(const std::string& name) {
#ifdef RML_TSAN
  if (name.starts_with("__tsan_")) return dlsym(RTLD_DEFAULT, name.c_str());
#endif
  static_cast<void>(name);
  return nullptr;
}

}  // namespace

void* find_program_function(const std::string& name) {
  const auto functions = program_functions();
  const auto by_name = [](const ProgramFunction& f) { return std::string_view(f.name); };
  const auto found = std::ranges::lower_bound(functions, std::string_view(name), {}, by_name);
  if (found != functions.end() && found->name == name) return reinterpret_cast<void*>(found->address);
  // The libraries stay open, because a compiled program that calls them may live until the
  // process ends.
  static void* const c_library[] = {dlopen(LIBM_SO, RTLD_LAZY), dlopen(LIBC_SO, RTLD_LAZY)};
  for (void* const library : c_library)
    if (void* const address = library == nullptr ? nullptr : own_symbol(library, name.c_str())) return address;
  return find_sanitizer(name);
}

}  // namespace rml::rt
