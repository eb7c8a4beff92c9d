// Times a sequence of lstm_train.rml, or with BATCH above 1 a batch of sequences of
// lstm_train_rows.rml, on the same data as the other frameworks. UNITS: units of the layer.
#include "case.h"

extern "C" {
#if BATCH == 1
#include "lstm_train.h"
#define NAME(what) lstm_train_##what
#else
#include "lstm_train_rows.h"
#define NAME(what) lstm_train_rows_##what
#endif
}

int main() {
  place();
  constexpr std::size_t units = UNITS, inputs = units / 2, batch = BATCH, length = 64, ring = 8;
  Lstm w(units);
  Buf out = draw(units, 6, root(units)), x = draw(ring * length * batch * inputs, 4), y = draw(ring * batch, 5);
  auto* s = state(NAME(init), NAME(BYTES)(length));
  float loss = 0, total = 0;
  const auto sequence = [&](std::size_t k, bool ask) {
    for (std::size_t t = 0; t < length; ++t) {
      const bool end = t + 1 == length;
      const float* now = x.p + (k * length + t) * batch * inputs;
#if BATCH == 1
      check(NAME(push)(s, w.kernel, w.recurrence, w.bias, out, end, now, end, y[k], ask));
#else
      check(NAME(push)(s, w.kernel, w.recurrence, w.bias, out, end, now, end, y.p + k * batch, ask));
#endif
    }
    float l = 0, sum = 0;
    std::uint8_t told = 0, asked = 0;
    while (NAME(pop)(s, &told, &l, &asked, &sum) == 1) {
      if (told != 0) loss = l;
      if (asked != 0) total = sum;
    }
  };
  for (std::size_t i = 0; i < 20; ++i) sequence(i % ring, false);
  const double last = loss;
  sequence(0, true);  // one more sequence, which reports the weights after 20 steps
  std::size_t k = 0;
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) sequence(k++ % ring, false);
  };
  report("lstm_train", kv({{"H", units}, {"B", batch}, {"T", length}}), "us/sequence", measure(run), last + total);
}
