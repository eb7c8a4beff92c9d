// Compares gradients through `map`, `fold` and `scan` with central differences.
#include <gtest/gtest.h>

#include "gradients/check_source.h"

namespace rml::gradients {

namespace {

void expect_iteration_right(const char* source) {
  const CheckedSource checked = check_source(source, 7, 1);
  EXPECT_EQ(checked.wrong, "") << source;
  EXPECT_GT(checked.compared, 0);
}

TEST(Iterators, states_sequences_and_what_is_fixed) {
  expect_iteration_right(R"(
node cell(h, x, w, b) -> (n, y)
  n = tanh(matmul(w, h) + x + b);
  y = sin(n) * x;

node f(h: f64[3], xs: f64[4, 3], w: f64[3, 3], b: f64) -> (n: f64[3], ys: f64[4, 3])
  n, ys = scan cell(h; xs; w, b);
)");
}

TEST(Iterators, in_reverse_and_only_some_results) {
  expect_iteration_right(R"(
node cell(h, c, x, w) -> (n, d, y, z)
  n = tanh(w * h + x);
  d = c + cos(n) * x;
  y = n * d;
  z = x + 1.0;

node f(h: f64, xs: f64[5], w: f64) -> (c: f64, ys: f64[5])
  _, c, ys, _ = scan[reverse] cell(h, 0.5; xs; w);
)");
}

TEST(Iterators, sums_and_elements) {
  expect_iteration_right(R"(
node add(a, x) -> (b)
  b = a + sin(x);

node twice(x, k) -> (y)
  y = if x > 0.1 then k * x else cos(x);

node f(xs: f64[6], k: f64) -> (s: f64, ys: f64[6])
  s = fold add(0.0; xs);
  ys = map twice(xs; k);
)");
}

TEST(Iterators, states_that_grow) {
  expect_iteration_right(R"(
node add(a, x, k) -> (b)
  b = 0.5 * a + k * x;

node f(a: f64, xs: f64[4, 2], k: f64[2]) -> (s: f64[2])
  s = fold add(a; xs; k);
)");
}

TEST(Iterators, within_iterations_and_expressions) {
  expect_iteration_right(R"(
node add(a, x, k) -> (b)
  b = a * k + sin(x);

node row(r, k) -> (s)
  s = fold add(0.3; r; k);

node f(m: f64[3, 4], k: f64) -> (y: f64[3])
  y = 2.0 * tanh(map row(m; k)) + k;
)");
}

TEST(Iterators, integers_beside_floats) {
  expect_iteration_right(R"(
node step(n, s, x, i) -> (m, t)
  m = n + 1;
  t = s + x * cast(f64, n * i);

node f(xs: f64[4]) -> (s: f64)
  _, s = scan step(1, 0.0; xs, iota(4));
)");
}

TEST(Iterators, sampled_and_remembered) {
  expect_iteration_right(R"(
node cell(h, x) -> (n, y)
  n = tanh(h + x);
  y = h * x;

node f(c: bool, end: bool, xs: f64[3]) -> (y: f64)
  h, ys = scan cell(fby_end(end, 0.1, h); xs);
  z = fold last(0.0; ((map double(xs)) when c));
  y = sum(ys) + merge c z (0.0 when not c);

node last(a, x) -> (b)
  b = a * 0.5 + x;

node double(x) -> (y)
  y = sin(2.0 * x);
)");
}

TEST(Iterators, memory_of_each_element) {
  expect_iteration_right(R"(
node cell(x, end, k: f64) -> (y, z)
  w = param(0.5);
  s = fby_end(end, 0.0, s2);
  s2 = tanh(w * s + x * k);
  y = if s2 > 0.1 then s2 * s2 else sin(x);
  z = s2 * w;

node f(xs: f64[3], end: bool, k: f64) -> (ys: f64[3], z: f64)
  ys, zs = map cell(xs; end, k);
  z = sum(zs);
)");
}

TEST(Iterators, memory_in_nodes_that_a_mapped_one_calls_and_maps) {
  expect_iteration_right(R"(
node delayed(x, end) -> (y)
  y = fby_end(end, 0.3, sin(x));

node row(r, k, end) -> (y)
  p = param([0.5, 0.25]);
  y = sum(map delayed(r; end) * p) + delayed(k, end);

node f(m: f64[3, 2], end: bool, k: f64) -> (ys: f64[3])
  ys = map row(m; k, end);
)");
}

TEST(Iterators, memory_with_parameters_one_each_and_matrices) {
  expect_iteration_right(R"(
node cell(x, w, end) -> (h)
  u = param([[0.5, -0.25], [0.125, 0.75]]);
  h = tanh(matmul(u, fby_end(end, zeros([2]), h)) + w * x);

node f(xs: f64[3, 2], end: bool) -> (y: f64[3, 2])
  ws = param([1.0, 0.5, 2.0]);
  y = map cell(xs, ws; end);
)");
}

TEST(Iterators, memory_on_a_clock) {
  expect_iteration_right(R"(
node cell(x, c, end) -> (y)
  s = fby_end(end, 0.0, s + 0.5 * sin(x));
  y = s + (if c then s * x else 0.0);

node f(xs: f64[2], end: bool, cs: bool[2], on: bool) -> (y: f64[2])
  part = map cell(xs when on, cs when on; end when on);
  y = merge on part (2.0 * xs when not on);
)");
}

TEST(Iterators, sums_over_elements) {
  expect_iteration_right(R"(
node centred(x, end) -> (y)
  mean = sum_over_elements(sin(x)) / 4.0;
  s = fby_end(end, 0.0, y);
  y = x - mean + 0.5 * s;

node f(xs: f64[4], end: bool) -> (ys: f64[4])
  ys = map centred(xs; end);
)");
}

}  // namespace

}  // namespace rml::gradients
