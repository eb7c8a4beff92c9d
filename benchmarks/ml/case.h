// The common code of the drivers of our programs. Random numbers, timing and output are those of
// the C++ programs of the other frameworks (common.hpp in their folder).
#pragma once
#include "common.hpp"

inline void* aligned_zeros(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  void* p = std::aligned_alloc(64, bytes);
  std::memset(p, 0, bytes);
  return p;
}

template <class State>
State* state(void (*init)(State*)) {
  auto* s = static_cast<State*>(aligned_zeros(sizeof(State)));
  init(s);
  return s;
}

// Makes the state of a program whose rows wait for the end of their segment, with buffers of `bytes` bytes.
template <class State>
State* state(std::int32_t (*init)(State*, void*, std::uint64_t), std::uint64_t bytes) {
  auto* s = static_cast<State*>(aligned_zeros(sizeof(State)));
  if (init(s, aligned_zeros(bytes), bytes) != 0) std::abort();
  return s;
}

inline void check(std::int32_t fault) {
  if (fault != 0) std::abort();
}

inline int threads() { return env_int("BENCH_THREADS", 1); }

// A program with one thread stays on one core.
inline void place() {
  if (threads() == 1) pin(bench_cpu());
}

inline void report(const char* workload, const std::string& parameters, const char* unit, Stat time, double checksum) {
  const char* name = std::getenv("OWN_NAME");
  emit(workload, name == nullptr ? "rmlc" : name, parameters, threads(), unit, time, checksum);
}

// A buffer with the first `count` numbers of a stream of random numbers.
inline Buf draw(std::size_t count, std::uint64_t stream, float scale = 1) {
  Buf b(count);
  fill(b, count, stream, scale);
  return b;
}

inline float root(std::size_t n) { return 1 / std::sqrt(static_cast<float>(n)); }

// The weights of an LSTM with half as many inputs as units, from three streams beginning with `first`.
struct Lstm {
  Buf kernel, recurrence, bias;
  explicit Lstm(std::size_t units, std::uint64_t first = 1)
      : kernel(draw(2 * units * units, first, root(units))),
        recurrence(draw(4 * units * units, first + 1, root(units))),
        bias(draw(4 * units, first + 2, root(units))) {}
};
