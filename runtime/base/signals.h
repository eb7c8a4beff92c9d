// SIGINT, SIGTERM and SIGHUP ask a run to stop after the current cycle, and so does a reader of standard output that
// goes.
//
// A SignalScope installs handlers that only set a flag, and puts the old ones back when it
// ends (rml_main may be called inside another program). A second signal of the same kind
// takes its default action, so a run that cannot finish its cycle can still be killed.
// SIGPIPE and SIGXFSZ are ignored meanwhile: a closed pipe, or a file that may not grow, is noticed by the write that
// meets it.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace rml::rt {

// The signal that asked the run to stop; 0: none. For any thread.
int interrupt_signal();
// No process reads standard output any more: the run stops as if SIGPIPE had come.
void note_closed_pipe();

// A thread that gets no signals: they are those of the thread that runs. Throws std::system_error.
template <typename Body>
std::thread start_thread(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  struct sigaction old_int_{};
  struct sigaction old_term_{};
  struct sigaction old_hup_{};
  struct sigaction old_pipe_{};
  struct sigaction old_size_{};
};

}  // namespace rml::rt
