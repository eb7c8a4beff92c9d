// What is said when the compiler itself is at fault: "rmlc: internal error in PHASE (FILE): …" on stderr, exit status
// 70, for exceptions that nobody caught, aborts and crashes alike.
#pragma once

#include <string>

namespace rml {

inline constexpr int exit_internal = 70;

// "rmlc: internal error in PHASE (FILE): what\n", of what the calling thread does.
std::string internal_error_text(const std::string& what);

// Reports crashes of every thread; those of the calling thread even when its stack is full.
void report_crashes();

// While it lives the thread that made it runs the command: its crashes are reported even when its stack is full, and
// of threads that compile nothing themselves (those of a program that runs) is said what this one does.
class CommandThread {
 public:
  CommandThread();
  CommandThread(const CommandThread&) = delete;
  CommandThread& operator=(const CommandThread&) = delete;
  ~CommandThread();
};

}  // namespace rml
