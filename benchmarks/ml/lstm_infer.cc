// Times a step of lstm_infer.rml on the data of the peers. UNITS: of the layer.
#include "case.h"

extern "C" {
#include "lstm_infer.h"
}

int main() {
  pin(bench_cpu());
  constexpr std::size_t units = UNITS, inputs = units / 2, ring = 256;
  const float scale = 1 / std::sqrt(static_cast<float>(units));
  Buf kernel(4 * units * inputs), recurrence(4 * units * units), bias(4 * units), x(ring * inputs), h(units);
  fill(kernel, kernel.n, 1, scale), fill(recurrence, recurrence.n, 2, scale), fill(bias, bias.n, 3, scale);
  fill(x, x.n, 4, 1);
  auto* s = state<lstm_infer_state>(lstm_infer_init);
  std::size_t t = 0;
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) {
      lstm_infer_step(s, kernel, recurrence, bias, x.p + t % ring * inputs, h);
      ++t;
    }
  };
  run(1000);
  const double checksum = sum(h, units);
  emit("lstm_infer", own_name(), kv({{"H", units}, {"I", inputs}}), 1, "us/step", measure(run), checksum);
}
