// Reports crashes from a signal handler. The handler runs with the process in an unknown state: it only copies bytes
// that were prepared beforehand, writes them and exits.
#include "driver/base/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>

#include "compiler/internal_error.h"
#include "runtime/base/readable.h"

namespace rml {
namespace {

constexpr std::size_t signal_stack_bytes = 64 * 1024;

// The activity of the thread that runs the command. It is global because signal handlers are.
const Activity* of_command = nullptr;

const Activity& what_is_done() {
  const Activity& here = activity();
  return here.phase == nullptr && of_command != nullptr ? *of_command : here;
}
const char* phase_of(const Activity& a) { return a.phase == nullptr ? "start" : a.phase; }
const char* file_of(const Activity& a) { return a.file[0] == '\0' ? "no file" : a.file; }

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

[[noreturn]] void give_up(const char* reason) {
  const Activity& done = what_is_done();
  say("rmlc: internal error in ");
  say(phase_of(done));
  say(" (");
  say(file_of(done));
  say("): ");
  say(reason);
  say("\n");
  _exit(exit_internal);
}

void crashed(int signal) { give_up(cause(signal)); }

// Reports an exception that nothing can catch. ANTLR's parser allocates memory in destructors, which an exception
// cannot leave.
[[noreturn]] void terminated() {
  try {
    if (const std::exception_ptr uncaught = std::current_exception()) std::rethrow_exception(uncaught);
  } catch (const std::bad_alloc&) {
    give_up("out of memory");
  } catch (...) {
    give_up("an exception that nothing catches");
  }
  give_up("aborted");
}

// Gives the thread a stack on which a handler can run when the thread's own stack is full.
void give_thread_a_signal_stack() {
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  if ((stack.ss_flags & SS_DISABLE) == 0) return;  // a sanitizer has set its own signal stack, which it removes itself
  // The memory is never freed, because the thread may crash while it exits.
  stack = {};
  stack.ss_sp = new std::byte[signal_stack_bytes];
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace

std::string internal_error_text(const std::string& what) {
  const Activity& done = what_is_done();
  return std::string("rmlc: internal error in ") + phase_of(done) + " (" + file_of(done) +
         "): " + readable_message(what) + "\n";
}

void report_crashes() {
  give_thread_a_signal_stack();
  std::set_terminate(terminated);
  struct sigaction action{};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

CommandThread::CommandThread() {
  give_thread_a_signal_stack();
  of_command = &activity();
}
CommandThread::~CommandThread() { of_command = nullptr; }

}  // namespace rml
