// Random sums over ranks, as programs call them (rmlrt.h): what a case is follows from its number alone, so that
// tests/ranks/oracle.py can compute the same from the description of the tree in docs.
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

// What one rank does: the totals of all its steps, step by step, site by site. `delay` is called before each call.
struct Totals {
  std::vector<std::string> bytes;
  std::uint64_t messages = 0, sent = 0;  // that the formula gives, of all ranks; bytes
};
Totals run_scenario(const Scenario& scenario, Ranks& ranks, const std::function<void()>& delay);

std::string hexadecimal(const std::string& bytes);

}  // namespace rml::rt::test
