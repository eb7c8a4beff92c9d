// SIGINT and SIGTERM ask a run to stop after the current cycle.
//
// A SignalScope installs handlers that only set a flag, and puts the old ones back when it
// ends (rml_main may be called inside another program). A second signal of the same kind
// takes its default action, so a run that cannot finish its cycle can still be killed.
// SIGPIPE is ignored meanwhile: a closed pipe is an error of the write that meets it.
#pragma once

#include <csignal>

namespace rml::rt {

// The signal that asked the run to stop; 0: none.
int interrupt_signal();

// Reads that wait give up, as after a signal; another thread that reads is to end.
void stop_reading(bool stop);
bool reading_stops();

class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  struct sigaction old_int_{};
  struct sigaction old_term_{};
  struct sigaction old_pipe_{};
};

}  // namespace rml::rt
