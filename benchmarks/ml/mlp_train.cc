// Times a training step of mlp_train.rml, on the same data as the other frameworks. BATCH: samples per step.
#include "case.h"

extern "C" {
#include "mlp_train.h"
}

int main() {
  place();
  constexpr std::size_t samples = 1024, features = 784, units = 128, classes = 10, batch = BATCH;
  Buf x(samples * features), rows(units * features), w1(features * units), b1(units), w2(units * classes), b2(classes);
  fill(x, x.n, 1, 1);
  for (std::size_t i = 0; i < x.n; ++i) x[i] = 0.5f * (x[i] + 1);
  std::vector<std::int32_t> label(samples);
  for (std::size_t i = 0; i < samples; ++i) label[i] = static_cast<std::int32_t>((rnd1(2, i) + 1) * 5);
  const auto transposed = [&](Buf& w, std::uint64_t stream, std::size_t in, std::size_t out) {
    fill(rows, in * out, stream, 1 / std::sqrt(static_cast<float>(in)));
    for (std::size_t i = 0; i < in; ++i)
      for (std::size_t o = 0; o < out; ++o) w[i * out + o] = rows[o * in + i];
  };
  transposed(w1, 3, features, units), transposed(w2, 5, units, classes);
  auto* s = state<mlp_train_state>(mlp_train_init);
  std::size_t at = 0;
  float loss = 0, total = 0;
  bool ask = false;
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) {
      std::uint8_t there = 0;
      const int code =
          mlp_train_step(s, w1, b1, w2, b2, x.p + at * features, label.data() + at, ask, &loss, &there, &total);
      if (code != 0) std::abort();
      at = (at + batch) % samples;
    }
  };
  run(64);
  const double last = loss;
  ask = true;
  run(1);  // one more step, which reports the weights after 64 steps
  ask = false;
  report("mlp_train", kv({{"B", batch}}), "us/step", measure(run), last + total);
}
