// The handler runs with the process in an unknown state: it only copies bytes that were
// prepared beforehand, writes them and leaves.
#include "driver/internal_error.h"
#include "runtime/readable.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace rml {
namespace {

constexpr std::size_t longest_file = 1024;
constexpr std::size_t signal_stack_bytes = 64 * 1024;

const char* phase = "start";
char file[longest_file] = "no file";

void say(const char* text) {
  const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(written);
}

const char* cause(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "invalid memory access, or the stack is full";
    case SIGBUS:
      return "invalid memory access";
    case SIGFPE:
      return "arithmetic fault";
    case SIGILL:
      return "illegal instruction";
    default:
      return "aborted";
  }
}

void crashed(int signal) {
  say("rmlc: internal error in ");
  say(phase);
  say(" (");
  say(file);
  say("): ");
  say(cause(signal));
  say("\n");
  _exit(exit_internal);
}

}  // namespace

CurrentPhase::CurrentPhase(const char* name) : outer_(phase) { phase = name; }
CurrentPhase::~CurrentPhase() {
  // While an exception flies the phase that failed stays noted for whoever catches it.
  if (std::uncaught_exceptions() == 0) phase = outer_;
}

void note_current_file(const std::string& path) {
  const std::string name = readable(path);
  const std::size_t length = std::min(name.size(), longest_file - 1);
  std::memcpy(file, name.data(), length);
  file[length] = '\0';
}

std::string internal_error_text(const std::string& what) {
  return std::string("rmlc: internal error in ") + phase + " (" + file + "): " + readable_message(what) + "\n";
}

void give_thread_a_signal_stack() {
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  if ((stack.ss_flags & SS_DISABLE) == 0) return;  // a sanitizer's, which takes it away itself
  // Never freed: the thread may crash on its way out.
  stack = {};
  stack.ss_sp = new std::byte[signal_stack_bytes];
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
}

void report_crashes() {
  give_thread_a_signal_stack();
  struct sigaction action{};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace rml
