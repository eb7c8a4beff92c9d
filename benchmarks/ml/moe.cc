// Times a step of moe.rml, on the same data as the other frameworks.
#include "case.h"

extern "C" {
#include "moe.h"
}

int main() {
  place();
  constexpr std::size_t experts = 3, size = 128, hidden = 256, ring = 256;
  Buf x = draw(ring * size, 1), gate = draw(experts * size, 2, root(size)), y(size);
  Buf w1 = draw(experts * hidden * size, 3, root(size)), b1 = draw(experts * hidden, 4, root(size));
  Buf w2 = draw(experts * size * hidden, 5, root(hidden)), b2 = draw(experts * size, 6, root(hidden));
  auto* s = state<moe_state>(moe_init);
  std::size_t t = 0;
  const auto step = [&] { check(moe_step(s, gate, w1, b1, w2, b2, x.p + t++ % ring * size, y)); };
  double checksum = 0;
  for (std::size_t i = 0; i < ring; ++i) {
    step();
    checksum += sum(y, size);
  }
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) step();
  };
  report("moe", kv({{"experts", experts}}), "us/step", measure(run), checksum);
}
