// Common parts of the fuzzers that run seeds: the arguments for seeds, a limit of memory, a time
// limit per seed, and a message with the seed if a signal ends the process.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace rml::fuzz {

inline volatile std::uint64_t current_seed = 0;

inline void tell_seed(int signal) {
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "seed %llu: signal %d\n", static_cast<unsigned long long>(current_seed), signal);
  if (write(2, text, static_cast<std::size_t>(length)) < 0) _exit(3);
  _exit(1);
}

inline void guard_process() {
#ifndef __SANITIZE_ADDRESS__
  constexpr rlim_t most = rlim_t{3} << 30;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
#endif
  for (const int s : {SIGSEGV, SIGABRT, SIGFPE, SIGALRM, SIGBUS}) std::signal(s, tell_seed);
}

inline void begin_seed(std::uint64_t seed) {
  constexpr unsigned most_seconds = 30;
  current_seed = seed;
  alarm(most_seconds);
}

// Takes --from or --count with its number at argv[k] and advances k. Returns false if neither is
// there.
template <class Arguments>
bool take_seeds(Arguments& arguments, int argc, char** argv, int& k) {
  const std::string_view option = argv[k];
  if ((option != "--from" && option != "--count") || k + 1 >= argc) return false;
  (option == "--from" ? arguments.from : arguments.count) = std::strtoull(argv[++k], nullptr, 10);
  return true;
}

}  // namespace rml::fuzz
