// Times a sequence of bilstm.rml, on the same data as the frameworks that it is compared with
// (the peers). UNITS: units of each direction; LENGTH: cycles of a sequence.
#include "case.h"

extern "C" {
#include "bilstm.h"
}

int main() {
  place();
  constexpr std::size_t units = UNITS, inputs = units / 2, length = LENGTH;
  Lstm w(units), back(units, 11);
  Buf x = draw(length * inputs, 4), y(length * 2 * units);
  auto* s = state(bilstm_init, bilstm_BYTES(length));
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) {
      std::size_t row = 0;
      for (std::size_t t = 0; t < length; ++t) {
        check(bilstm_push(s, w.kernel, w.recurrence, w.bias, back.kernel, back.recurrence, back.bias, t + 1 == length,
                          x.p + t * inputs));
      }
      while (bilstm_pop(s, y.p + row * 2 * units) == 1) ++row;
      if (row != length) std::abort();
    }
  };
  run(1);
  const double checksum = sum(y, y.n);
  report("bilstm", kv({{"H", units}, {"T", length}}), "us/sequence", measure(run), checksum);
}
