// The measurement that both engines share: the same inputs, and a separate time for each step.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Runs `step` that many times. Prints the median, the 99.9th percentile and the maximum of the
// times in microseconds, and a checksum of the outputs. The first tenth is not timed.
template <class Step>
void measure(long steps, std::vector<float>& input, const std::vector<float>& output, Step&& step) {
  std::uint64_t random = 88172645463325252u;
  std::vector<double> times;
  double checksum = 0;
  for (long k = 0; k < steps; ++k) {
    for (float& x : input) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      x = static_cast<float>(random >> 40) / (1 << 24) * 0.2f;
    }
    const auto begin = std::chrono::steady_clock::now();
    step(k);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (k >= steps / 10) times.push_back(time.count());
    for (std::size_t j = 0; j < output.size(); ++j) checksum += std::fabs(output[j]) * static_cast<double>(1 + j % 7);
  }
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  std::printf("%.3f %.3f %.3f %.9g\n", times[last / 2], times[last - last / 1000], times[last], checksum);
}
