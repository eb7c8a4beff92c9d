// How a run ends when it cannot go on.
//
// Inside the runtime a fault of the user's (bad input, full disk, wrong option) is a
// Failure thrown where it is noticed, with the finished message and the exit status. It is
// told in one place, rml_main, after everything computed before it has been written; a rank that is
// a process tells it before it lets the others know (runtime/program/run_on_ranks.cc).
// No exception leaves rml_main.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/base/readable.h"

namespace rml::rt {

enum ExitStatus : int { exit_ok = 0, exit_fault = 1, exit_usage = 2, exit_internal = 70 };

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message, int status = exit_fault)
      : std::runtime_error(readable_message(message)), status_(status) {}
  int status() const { return status_; }
  // Writes the message to standard error, unless this has been done.
  void tell() {
    if (!std::exchange(told_, true)) std::fprintf(stderr, "%s\n", what());
  }

 private:
  int status_;
  bool told_ = false;
};

// A wait for input was cut short: by SIGINT or SIGTERM, or because the row is no longer needed.
struct Interrupted {};

}  // namespace rml::rt
