// Waits for conditions, so that tests need not sleep.
#ifndef RML_TESTS_UNIT_CHANNEL_AWAIT_H
#define RML_TESTS_UNIT_CHANNEL_AWAIT_H

#include <chrono>
#include <stdexcept>
#include <thread>

namespace rml {

template <typename Condition>
void await(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("waited in vain");
    std::this_thread::yield();
  }
}

}  // namespace rml

#endif
