// Reports faults of the compiler itself: "rmlc: internal error in PHASE (FILE): …" on stderr, exit status 70, for
// uncaught exceptions, aborts and crashes alike.
#pragma once

#include <string>

namespace rml {

inline constexpr int exit_internal = 70;

// "rmlc: internal error in PHASE (FILE): what\n", with the phase and the file of the calling thread.
std::string internal_error_text(const std::string& what);

// Installs handlers that report crashes of every thread. For the calling thread this works even if its stack is full.
void report_crashes();

// Marks the thread that creates it as the one that runs the command, for the lifetime of this object. Its crashes are
// reported even if its stack is full. A crash in a thread that compiles nothing itself (as those of a running program)
// is reported with the phase of the command's thread.
class CommandThread {
 public:
  CommandThread();
  CommandThread(const CommandThread&) = delete;
  CommandThread& operator=(const CommandThread&) = delete;
  ~CommandThread();
};

}  // namespace rml
