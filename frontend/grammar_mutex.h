// A lock for ANTLR's runtime. All lexers and parsers of a process share a cache of predictions,
// and ANTLR does not lock all accesses to it. Therefore only one text is scanned or parsed at a
// time. The front end has no other shared state.
#pragma once

#include <mutex>

namespace rml {

inline std::mutex& grammar_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace rml
