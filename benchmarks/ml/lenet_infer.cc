// Times an inference of lenet.rml, on the same data as the other frameworks. BATCH: images per inference.
#include "lenet.h"

extern "C" {
#include "lenet_infer.h"
}

int main() {
  place();
  Lenet p;
  Buf x = draw(BATCH * 784, 100), y(BATCH * 10);
  auto* s = state<lenet_infer_state>(lenet_infer_init);
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) lenet_infer_step(s, p.w1, p.b1, p.w2, p.b2, p.f1, p.g1, p.f2, p.g2, p.f3, p.g3, x, y);
  };
  run(3);
  report("lenet_infer", kv({{"B", BATCH}}), "us/batch", measure(run), sum(y, y.n));
}
