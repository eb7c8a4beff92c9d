// Times a step of bn.rml, on the same data as the frameworks that it is compared with (the
// peers). FEATURES: columns of a batch.
#include "case.h"

extern "C" {
#include "bn.h"
}

int main() {
  place();
  constexpr std::size_t features = FEATURES, batch = 64, count = batch * features, ring = 4;
  Buf x = draw(ring * count, 1), dy = draw(ring * count, 2), gamma = draw(features, 3, 0.1f),
      beta = draw(features, 4, 0.1f);
  for (std::size_t i = 0; i < features; ++i) gamma[i] += 1;
  Buf y(count), dx(count), dgamma(features), dbeta(features), average(features), variance(features);
  auto* s = state<bn_state>(bn_init);
  std::size_t t = 0;
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i, ++t) {
      const std::size_t at = t % ring * count;
      bn_step(s, gamma, beta, x.p + at, dy.p + at, y, dx, dgamma, dbeta, average, variance);
    }
  };
  run(5);
  double checksum = 0;
  for (std::size_t i = 0; i < count; ++i)
    checksum += static_cast<double>(y[i]) * y[i] + static_cast<double>(dx[i]) * dx[i];
  for (Buf* b : {&average, &variance, &dgamma, &dbeta}) checksum += sum(*b, features);
  report("bn", kv({{"F", features}, {"B", batch}}), "us/step", measure(run), checksum);
}
