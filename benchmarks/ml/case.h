// What the drivers of our programs share. The streams of numbers, the way of timing and the lines
// printed are the C++ peers' own (common.hpp, in their folder).
#pragma once
#include "common.hpp"

template <class State>
State* state(void (*init)(State*)) {
  const std::size_t bytes = (sizeof(State) + 63) / 64 * 64;
  auto* s = static_cast<State*>(std::aligned_alloc(64, bytes));
  std::memset(static_cast<void*>(s), 0, bytes);
  init(s);
  return s;
}

inline const char* own_name() {
  const char* name = std::getenv("OWN_NAME");
  return name == nullptr ? "rmlc" : name;
}
