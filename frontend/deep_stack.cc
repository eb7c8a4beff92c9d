// Runs a function on a thread whose stack is deep enough for max_nesting levels of recursion.
//
// The stack reserves address space; only the pages that are touched use memory. If a limit on
// address space prevents the reservation, half the size is tried, and so on. Exceptions, for
// example from lack of memory, are rethrown in the caller.
#include "frontend/deep_stack.h"

#include <pthread.h>

#include <exception>

namespace rml {

namespace {

struct Task {
  void (*function)(void*);
  void* argument;
  std::exception_ptr thrown = nullptr;
};

void* run_task(void* task) {
  auto* t = static_cast<Task*>(task);
  try {
    t->function(t->argument);
  } catch (...) {
    t->thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_with_deep_stack(void (*f)(void*), void* argument) {
  constexpr std::size_t bytes_per_level = std::size_t{100} << 10;
  constexpr std::size_t smallest = std::size_t{16} << 20;
  Task task{f, argument, nullptr};
  for (std::size_t size = bytes_per_level * max_nesting; size >= smallest; size /= 2) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread{};
    const bool started = pthread_attr_setstacksize(&attributes, size & ~std::size_t{0xFFFF}) == 0 &&
                         pthread_create(&thread, &attributes, run_task, &task) == 0;
    pthread_attr_destroy(&attributes);
    if (!started) continue;
    pthread_join(thread, nullptr);
    if (task.thrown) std::rethrow_exception(task.thrown);
    return;
  }
  f(argument);
}

}  // namespace rml
