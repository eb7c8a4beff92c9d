// Times a sample of online.rml, many per call, on the same data as the other frameworks.
#include "case.h"

extern "C" {
#include "online.h"
}

int main() {
  place();
  constexpr std::size_t features = 8, ring = 4096;
  Buf x = draw(ring * features, 1), y = draw(ring, 2, 0.01f), said(ring);
  for (std::size_t i = 0; i < ring; ++i) {
    for (std::size_t k = 0; k < features; ++k) y[i] += (static_cast<float>(k) - 3.5f) * x[i * features + k];
  }
  auto* s = state<online_state>(online_init);
  const auto run = [&](long n) {
    for (constexpr long block = ring; n > 0; n -= block) online_run(s, std::min(n, block), x, y, said);
  };
  run(10000);
  const float probe[features] = {1, 2, 3, 4, 5, 6, 7, 8};
  online_state copy = *s;
  float checksum = 0;  // the sum of (k + 1) w_k, to compare results
  online_step(&copy, probe, 0, &checksum);
  Stat time = measure(run);
  for (double* t : {&time.med, &time.min, &time.max}) *t *= 1000;
  report("online", kv({{"features", features}}), "ns/sample", time, checksum);
}
