// Times one step of lenet.rml on the data of the peers, from their parameters, and in their way:
// repetitions of about a millisecond, the median of those that nothing disturbed (common.hpp).
//
//   lenet [infer1] [infer64] [train64]
#include "common.hpp"

extern "C" {
#include "infer1.h"
#include "infer64.h"
#include "train64.h"
}

struct Parameters {
  Buf w1, b1, w2, b2, f1, g1, f2, g2, f3, g3;
  Parameters() {
    std::uint64_t stream = 0;
    const auto draw = [&](Buf& b, std::size_t count, float fan_in) {
      b.alloc(count);
      fill(b, count, ++stream, 1 / std::sqrt(fan_in));
    };
    draw(w1, 150, 25), draw(b1, 6, 25), draw(w2, 2400, 150), draw(b2, 16, 150);
    draw(f1, 48000, 400), draw(g1, 120, 400), draw(f2, 10080, 120), draw(g2, 84, 120);
    draw(f3, 840, 84), draw(g3, 10, 84);
  }
};

template <class State>
State* state(std::size_t bytes, void (*init)(State*)) {
  auto* s = static_cast<State*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  std::memset(static_cast<void*>(s), 0, bytes);
  init(s);
  return s;
}

template <class State, class Step>
void infer(double batch, void (*init)(State*), Step* step) {
  Parameters p;
  Buf x(static_cast<std::size_t>(batch) * 784), y(static_cast<std::size_t>(batch) * 10);
  fill(x, x.n, 100, 1);
  auto* s = state<State>(sizeof(State), init);
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i)
      step(s, x.p, p.w1.p, p.b1.p, p.w2.p, p.b2.p, p.f1.p, p.g1.p, p.f2.p, p.g2.p, p.f3.p, p.g3.p, y.p);
  };
  run(3);
  emit("lenet_infer", "rmlc", kv({{"B", batch}}), 1, "us/batch", measure(run), sum(y, y.n));
}

void train() {
  constexpr std::size_t images = 512, batch = 64;
  Parameters p;
  Buf x(images * 784);
  fill(x, x.n, 100, 1);
  std::vector<std::int32_t> label(images);
  for (std::size_t i = 0; i < images; ++i) label[i] = static_cast<std::int32_t>((rnd1(101, i) + 1) * 5);
  auto* s = state<train64_state>(sizeof(train64_state), train64_init);
  std::size_t at = 0;
  float l = 0, total = 0;
  const auto run = [&](long n) {
    for (long i = 0; i < n; ++i) {
      const int code = train64_step(s, x.p + at * 784, label.data() + at, p.w1.p, p.b1.p, p.w2.p, p.b2.p, p.f1.p,
                                    p.g1.p, p.f2.p, p.g2.p, p.f3.p, p.g3.p, &l, &total);
      if (code != 0) std::abort();
      at = (at + batch) % images;
    }
  };
  run(10);
  const double loss = l;
  run(1);  // tells the parameters after ten steps
  emit("lenet_train", "rmlc", kv({{"B", 64}}), 1, "us/batch", measure(run), loss + total);
}

int main(int argc, char** argv) {
  pin(bench_cpu());
  for (int k = 1; k < argc; ++k) {
    const std::string what = argv[k];
    if (what == "infer1") infer<infer1_state>(1, infer1_init, infer1_step);
    if (what == "infer64") infer<infer64_state>(64, infer64_init, infer64_step);
    if (what == "train64") train();
  }
}
