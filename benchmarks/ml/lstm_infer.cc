// Times a step of lstm_infer.rml, on the same data as the other frameworks. UNITS: units of the layer.
#include "case.h"

extern "C" {
#include "lstm_infer.h"
}

int main() {
  place();
  constexpr std::size_t units = UNITS, inputs = units / 2, ring = 256;
  Lstm w(units);
  Buf x = draw(ring * inputs, 4), h(units);
  auto* s = state<lstm_infer_state>(lstm_infer_init);
  std::size_t t = 0;
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i, ++t) lstm_infer_step(s, w.kernel, w.recurrence, w.bias, x.p + t % ring * inputs, h);
  };
  run(1000);
  const double checksum = sum(h, units);
  report("lstm_infer", kv({{"H", units}, {"I", inputs}}), "us/step", measure(run), checksum);
}
