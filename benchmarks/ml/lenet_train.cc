// Times a training step of lenet.rml, on the same data as the other frameworks. BATCH: images per step.
#include "lenet.h"

extern "C" {
#include "lenet_train.h"
}

int main() {
  place();
  constexpr std::size_t images = 512;
  Lenet p;
  Buf x = draw(images * 784, 100);
  std::vector<std::int32_t> label(images);
  for (std::size_t i = 0; i < images; ++i) label[i] = static_cast<std::int32_t>((rnd1(101, i) + 1) * 5);
  auto* s = state<lenet_train_state>(lenet_train_init);
  std::size_t at = 0;
  float l = 0, total = 0;
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) {
      check(lenet_train_step(s, p.w1, p.b1, p.w2, p.b2, p.f1, p.g1, p.f2, p.g2, p.f3, p.g3, x.p + at * 784,
                             label.data() + at, &l, &total));
      at = (at + BATCH) % images;
    }
  };
  run(10);
  const double loss = l;
  run(1);  // one more step, which reports the parameters after ten steps
  const double checksum = loss + total;
  report("lenet_train", kv({{"B", BATCH}}), "us/batch", measure(run), checksum);
}
