// A signal handler can only use global variables. Apart from the threads of parallel.cc, the flag
// and the receiver of SIGUSR1 are the only mutable globals of the runtime. A signal that was ignored on entry (nohup)
// stays ignored.
#include "runtime/base/signals.h"

#include <atomic>
#include <cerrno>

namespace rml::rt {
namespace {

std::atomic<int> pending_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<UserSignal*> user_signal{nullptr};
static_assert(std::atomic<UserSignal*>::is_always_lock_free);

extern "C" void note_signal(int signal) { pending_signal = signal; }

extern "C" void pass_user_signal(int) {
  const int error = errno;
  if (UserSignal* const receiver = user_signal) receiver->signalled();
  errno = error;
}

void install(int signal, struct sigaction* old, void (*handler)(int), int flags) {
  sigaction(signal, nullptr, old);
  if (old->sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace

int interrupt_signal() { return pending_signal; }

void note_closed_pipe() {
  int none = 0;
  pending_signal.compare_exchange_strong(none, SIGPIPE);
}

void on_user_signal(UserSignal* receiver) { user_signal = receiver; }

SignalScope::SignalScope() {
  pending_signal = 0;
  constexpr int once = static_cast<int>(SA_RESETHAND);
  install(SIGINT, &old_int_, note_signal, once);
  install(SIGTERM, &old_term_, note_signal, once);
  install(SIGHUP, &old_hup_, note_signal, once);
  install(SIGUSR1, &old_user_, pass_user_signal, SA_RESTART);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, &old_pipe_);
  sigaction(SIGXFSZ, &ignore, &old_size_);
}

SignalScope::~SignalScope() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  sigaction(SIGHUP, &old_hup_, nullptr);
  sigaction(SIGUSR1, &old_user_, nullptr);
  sigaction(SIGPIPE, &old_pipe_, nullptr);
  sigaction(SIGXFSZ, &old_size_, nullptr);
}

}  // namespace rml::rt
