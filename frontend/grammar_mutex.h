// ANTLR's runtime shares among all lexers and parsers of a process what it learns about the grammar, and not all of
// that under a lock. So one text is read at a time; there is no other state that threads share here.
#pragma once

#include <mutex>

namespace rml {

inline std::mutex& grammar_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace rml
