// Times one training step of online.rml, mlp.rml and lstm.rml, on the data and in the way of the
// peers: repetitions of at least a millisecond, the best and the median of them.
//
//   step WORKLOAD                 prints a JSON line: workload, params, unit, median, min
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "lstm.h"
#include "mlp.h"
#include "online.h"

namespace {

// Element i of a stream of numbers in [-1, 1): the finaliser of splitmix64.
float uniform(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = i + ((stream << 32) + 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<float>(static_cast<double>(z >> 40) * (2.0 / 16777216.0) - 1.0);
}

std::vector<float> stream(std::uint64_t s, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = uniform(s, i);
  return values;
}

// Microseconds of one f, median and least.
void report(const char* workload, const char* parameters, const char* unit, double scale, double result,
            const std::function<void()>& f) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&](long n) {
    const auto begin = Clock::now();
    for (long i = 0; i < n; ++i) f();
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  };
  long n = 1;
  while (time(n) < 1000) n *= 2;
  std::vector<double> all;
  for (int k = 0; k < 41; ++k) all.push_back(time(n) / static_cast<double>(n) * scale);
  std::sort(all.begin(), all.end());
  std::printf(
      "{\"workload\":\"%s\",\"peer\":\"rmlc\",\"params\":%s,\"unit\":\"%s\",\"median\":%.6g,\"min\":%.6g,\"loss\":%.6g}"
      "\n",
      workload, parameters, unit, all[all.size() / 2], all[0], result);
}

template <class State>
State* state(void (*init)(State*)) {
  auto* s = static_cast<State*>(std::calloc(1, sizeof(State)));
  init(s);
  return s;
}

void online() {
  constexpr std::size_t ring = 4096;
  const auto x = stream(1, 8 * ring);
  std::vector<float> y(ring), l(ring);
  for (std::size_t i = 0; i < ring; ++i) {
    y[i] = 0.01f * uniform(2, i);
    for (std::size_t k = 0; k < 8; ++k) y[i] += (static_cast<float>(k) - 3.5f) * x[i * 8 + k];
  }
  auto* s = state(online_init);
  online_run(s, ring, x.data(), y.data(), l.data());
  const double loss = l.back();
  report("online", "{\"features\":8}", "ns/sample", 1000.0 / ring, loss,
         [&] { online_run(s, ring, x.data(), y.data(), l.data()); });
}

void mlp() {
  constexpr std::size_t samples = 1024, batch = 64, features = 784;
  auto x = stream(1, samples * features);
  for (float& v : x) v = 0.5f * (v + 1);
  std::vector<std::int32_t> label(samples);
  for (std::size_t i = 0; i < samples; ++i) label[i] = static_cast<std::int32_t>((uniform(2, i) + 1) * 5);
  auto* s = state(mlp_init);
  std::size_t at = 0;
  float loss = 0;
  const auto step = [&] {
    if (mlp_step(s, x.data() + at * features, label.data() + at, &loss) != 0) std::abort();
    at = (at + batch) % samples;
  };
  for (int k = 0; k < 64; ++k) step();
  const double reached = loss;
  report("mlp_train", "{\"B\":64}", "us/step", 1, reached, step);
}

void lstm() {
  constexpr std::size_t units = 128, inputs = units / 2, length = 64, ring = 8;
  const auto x = stream(4, ring * length * inputs), y = stream(5, ring);
  auto* s = static_cast<lstm_state*>(std::calloc(1, sizeof(lstm_state)));
  if (lstm_init(s, std::calloc(1, lstm_BYTES(2 * length)), lstm_BYTES(2 * length)) != 0) std::abort();
  std::size_t n = 0;
  float loss = 0;
  const auto sequence = [&] {
    for (std::size_t t = 0; t < length; ++t) {
      const bool end = t + 1 == length;
      if (lstm_push(s, end, x.data() + (n * length + t) * inputs, end, y[n]) != 0) std::abort();
      std::uint8_t present = 0;
      float l = 0;
      while (lstm_pop(s, &present, &l) == 1)
        if (present != 0) loss = l;
    }
    n = (n + 1) % ring;
  };
  for (int k = 0; k < 20; ++k) sequence();
  const double reached = loss;
  report("lstm_train", "{\"H\":128,\"B\":1,\"T\":64}", "us/sequence", 1, reached, sequence);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string workload = argc > 1 ? argv[1] : "";
  if (workload == "online") return online(), 0;
  if (workload == "mlp_train") return mlp(), 0;
  if (workload == "lstm_train") return lstm(), 0;
  std::fprintf(stderr, "usage: step online|mlp_train|lstm_train\n");
  return 2;
}
