// A signal handler can only write to a global variable. Apart from the threads of parallel.cc,
// this flag is the only mutable global of the runtime. A signal that was ignored on entry (nohup)
// stays ignored.
#include "runtime/base/signals.h"

#include <atomic>

namespace rml::rt {
namespace {

std::atomic<int> pending_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int signal) { pending_signal = signal; }

void install(int signal, struct sigaction* old) {
  sigaction(signal, nullptr, old);
  if (old->sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

}  // namespace

int interrupt_signal() { return pending_signal; }

void note_closed_pipe() {
  int none = 0;
  pending_signal.compare_exchange_strong(none, SIGPIPE);
}

SignalScope::SignalScope() {
  pending_signal = 0;
  install(SIGINT, &old_int_);
  install(SIGTERM, &old_term_);
  install(SIGHUP, &old_hup_);
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
  sigaction(SIGPIPE, &old_pipe_, nullptr);
  sigaction(SIGXFSZ, &old_size_, nullptr);
}

}  // namespace rml::rt
