// What happens when the compiler itself is at fault.
//
// The phase at work and the file it works on are noted where a signal handler can read
// them. A broken invariant is an InternalError; an exception nobody caught, an abort and a
// crash end alike: "rmlc: internal error in PHASE (FILE): …" on stderr, exit status 70.
#pragma once

#include <stdexcept>
#include <string>

namespace rml {

inline constexpr int exit_internal = 70;

class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The phase noted until the destructor, or until another is noted; `name` is a literal.
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

// "rmlc: internal error in PHASE (FILE): what\n"
std::string internal_error_text(const std::string& what);

// Reports crashes of every thread; those of the calling thread even when its stack is full.
void report_crashes();
// The latter for one more thread: what a handler runs on when the thread's stack is full.
void give_thread_a_signal_stack();

}  // namespace rml
