// Random sums over ranks, with the calls that programs make (rmlrt.h). A case is determined by
// its number alone, so tests/ranks/oracle.py can compute the same from the documented tree.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/ranks/ranks.h"

namespace rml::rt::test {

struct Scenario {
  explicit Scenario(std::uint64_t number);

  struct Site {
    std::uint8_t dtype;
    std::uint64_t count;
  };
  std::uint64_t number;
  std::uint32_t per_step, steps, in_last_step;
  std::vector<Site> sites;

  std::uint32_t in_step(std::uint32_t step) const { return step + 1 == steps ? in_last_step : per_step; }
};

// The totals of one rank, step by step and site by site. `delay` is called before each call.
struct Totals {
  std::vector<std::string> bytes;
  std::uint64_t messages = 0, sent = 0;  // expected totals of all ranks, by the formula; `sent` in bytes
};
Totals run_scenario(const Scenario& scenario, Ranks& ranks, const std::function<void()>& delay);

std::string hexadecimal(const std::string& bytes);

}  // namespace rml::rt::test
