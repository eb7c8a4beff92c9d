// Stops a run after the current cycle at SIGINT, SIGTERM or SIGHUP, or when the reader of
// standard output closes it.
//
// A SignalScope installs handlers that only set a flag, and restores the old handlers when it
// ends, because rml_main may be called inside another program. A second signal of the same kind
// has its default action, so a run that does not finish its cycle can still be killed. SIGPIPE
// and SIGXFSZ are ignored meanwhile: a write to a closed pipe, or to a file that may not grow,
// reports the error. SIGUSR1 does not end the run: it asks for a line with its figures.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace rml::rt {

// The signal that requested the stop; 0 if there is none. Any thread may call it.
int interrupt_signal();
// No process reads standard output any more: the run stops as for SIGPIPE.
void note_closed_pipe();

// Starts a thread that receives no signals; the main thread of the run receives them. Throws
// std::system_error.
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

// Receives SIGUSR1 while the run continues. `signalled` is called by the signal handler, in the main
// thread of the run, so it neither allocates nor takes a lock.
class UserSignal {
 public:
  virtual ~UserSignal() = default;
  virtual void signalled() noexcept = 0;
};
// From now on, SIGUSR1 is passed to this object; null: it has no effect.
void on_user_signal(UserSignal* receiver);

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
  struct sigaction old_user_{};
  struct sigaction old_pipe_{};
  struct sigaction old_size_{};
};

}  // namespace rml::rt
