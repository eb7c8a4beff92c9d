// How a run ends when it cannot go on.
//
// Inside the runtime a fault of the user's (bad input, full disk, wrong option) is a
// Failure thrown where it is noticed, with the finished message and the exit status. It is
// caught in one place, rml_main, after everything computed before it has been written.
// No exception leaves rml_main.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/base/readable.h"

namespace rml::rt {

enum ExitStatus : int { exit_ok = 0, exit_fault = 1, exit_usage = 2, exit_internal = 70 };

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message, int status = exit_fault)
      : std::runtime_error(readable_message(message)), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// A wait for input was cut short: by SIGINT or SIGTERM, or because nobody needs the row any more.
struct Interrupted {};

}  // namespace rml::rt
