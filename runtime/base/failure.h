// The error that ends a run.
//
// In the runtime, an error of the user (bad input, full disk, wrong option) is a Failure. It is
// thrown where it is noticed, with the complete message and the exit status. rml_main is the only
// place that prints it, after everything computed before has been written. A rank that is a
// process prints it before it notifies the other ranks (runtime/program/run_on_ranks.cc). No
// exception leaves rml_main.
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
  // Writes the message to standard error, at most once.
  void tell() {
    if (!std::exchange(told_, true)) std::fprintf(stderr, "%s\n", what());
  }

 private:
  int status_;
  bool told_ = false;
};

// Ends a wait for input: because of SIGINT or SIGTERM, or because the row is no longer needed.
struct Interrupted {};

}  // namespace rml::rt
