// Times a batch of mlp_per_sample.rml, sample by sample, on the same data as the other frameworks.
#include "case.h"

extern "C" {
#include "mlp_per_sample.h"
}

int main() {
  place();
  constexpr std::size_t samples = 1024, features = 784, units = 128, classes = 10, batch = 64;
  Buf x = draw(samples * features, 1), b1(units), b2(classes);
  Buf w1 = draw(units * features, 3, root(features)), w2 = draw(classes * units, 5, root(units));
  for (std::size_t i = 0; i < x.n; ++i) x[i] = 0.5f * (x[i] + 1);
  std::vector<std::int32_t> label(samples);
  for (std::size_t i = 0; i < samples; ++i) label[i] = static_cast<std::int32_t>((rnd1(2, i) + 1) * 5);
  auto* s = state(mlp_per_sample_init, mlp_per_sample_BYTES(batch));
  std::size_t at = 0;
  float loss = 0, total = 0;
  const auto run = [&](long n, bool ask = false) {
    for (long i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < batch; ++k, ++at) {
        const std::size_t sample = at % samples;
        check(mlp_per_sample_push(s, w1, b1, w2, b2, k + 1 == batch, x.p + sample * features, label[sample], ask));
      }
      float l = 0, sum = 0;
      std::uint8_t told = 0, asked = 0;
      while (mlp_per_sample_pop(s, &told, &l, &asked, &sum) == 1) {
        if (told != 0) loss = l;
        if (asked != 0) total = sum;
      }
    }
  };
  run(64);
  const double last = loss;
  run(1, true);  // one more step, which reports the weights after 64 steps
  report("mlp_train", kv({{"B", batch}}), "us/step", measure([&](long n) { run(n); }), last + total);
}
