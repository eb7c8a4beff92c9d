// Errors of the compiler itself: broken invariants and crashes.
//
// A broken invariant is an InternalError. Each thread records the current phase and file in
// memory that even a signal handler can read, so that a crash report can name them.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace rml {

class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The current work of a thread, for the message about an internal error.
struct Activity {
  static constexpr std::size_t longest_file = 1024;
  const char* phase = nullptr;  // name of the phase, a string literal; null: no phase has begun
  char file[longest_file] = "";
};
// Returns the activity of the calling thread.
Activity& activity();

// Records the phase until the destructor runs or another phase is recorded. `name` must be a
// string literal.
class CurrentPhase {
 public:
  explicit CurrentPhase(const char* name);
  CurrentPhase(const CurrentPhase&) = delete;
  CurrentPhase& operator=(const CurrentPhase&) = delete;
  ~CurrentPhase();

 private:
  const char* outer_;
};

void note_current_file(const std::string& file);

}  // namespace rml
