// The activity is a thread-local object of fixed size, so that reading it needs no lock and no
// allocation.
#include "compiler/internal_error.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "runtime/base/readable.h"

namespace rml {

Activity& activity() {
  thread_local Activity of_thread;
  return of_thread;
}

CurrentPhase::CurrentPhase(const char* name) : outer_(activity().phase) { activity().phase = name; }
CurrentPhase::~CurrentPhase() {
  // During an exception the phase that failed remains recorded, for the exception's handler.
  if (std::uncaught_exceptions() == 0) activity().phase = outer_;
}

void note_current_file(const std::string& path) {
  const std::string name = readable(path);
  const std::size_t length = std::min(name.size(), Activity::longest_file - 1);
  char* const file = activity().file;
  std::memcpy(file, name.data(), length);
  file[length] = '\0';
}

}  // namespace rml
