// Compares the gradients of small programs that combine constructs with central differences.
#include <gtest/gtest.h>

#include "gradients/check_source.h"

namespace rml::gradients {

namespace {

void expect_right(const char* source) {
  const CheckedSource checked = check_source(source, 9, 1);
  EXPECT_EQ(checked.wrong, "") << source;
  EXPECT_GT(checked.compared, 0);
}

TEST(Constructs, conditions_alike_on_two_clocks) {
  expect_right(R"(
node f(c: bool, d: bool, x: f64) -> (y: f64)
  y = merge c u v;
  u = merge ((d when c) or (d when c)) (sin(x when c) when ((d when c) or (d when c)))
      (cos(x when c) when not ((d when c) or (d when c)));
  v = merge ((d when not c) or (d when not c)) (tanh(x when not c) when ((d when not c) or (d when not c)))
      (exp(x when not c) when not ((d when not c) or (d when not c)));
)");
}

TEST(Constructs, stopped_constants_under_when) {
  expect_right(R"(
node f(end: bool, x: f64) -> (y: f64)
  a = (x when end) * (stop_gradient(-0.4) when end);
  y = merge end a 0.5;
)");
}

TEST(Constructs, products_with_constants_under_when) {
  expect_right(R"(
node f(c: bool, x: f64[2, 3]) -> (y: f64[3])
  y = merge c (matmul([0.3, -0.2], tanh(x when c))) 0.5;
)");
}

TEST(Constructs, initial_values_that_broadcast) {
  expect_right(R"(
node f(end: bool, i: f64, x: f64[2, 3]) -> (y: f64[2, 3], z: f64[2, 3])
  y = tanh(x + 0.5 * fby_end(end, sin(i), y));
  z = tanh(x + 0.5 * post_end(end, cos(i), z));
)");
  expect_right(R"(
node f(end: bool, i: f64[3], x: f64) -> (y: f64[3])
  y = fby_end(end, i, sin(x)) * post_end(end, i, cos(x));
)");
}

TEST(Constructs, looking_ahead_to_what_is_stopped) {
  expect_right(R"(
node f(c: bool, x: f64) -> (y: f64)
  v = post stop_gradient(x when c);
  y = merge c v (x when not c);
)");
}

// s has no effect on y, because y does not depend on the input of g that reads s.
TEST(Constructs, states_without_effect) {
  expect_right(R"(
node g(a: f64, b: f64[2, 3]) -> (y: f64, z: f64)
  y = sin(a);
  z = sum(b);

node f(end: bool, x: f64) -> (y: f64)
  s: f64[2, 3] = if end then full([2, 3], x) else 0.9 * (x fby s);
  y, _ = g(x, s);
)");
}

TEST(Constructs, states_that_a_condition_starts_anew) {
  expect_right(R"(
node f(c: bool, x: f64, z: f64) -> (held: f64, decayed: f64)
  held = merge c sin(x when c) ((z fby held) when not c);
  decayed = if c then x * x else 0.9 * (z fby decayed);
)");
}

TEST(Constructs, both_directions_with_parameters) {
  expect_right(R"(
node g(end, c, x) -> (y, s)
  w = param_end(end, param(0.3));
  y = tanh(w * fby_end(end, 0.0, y) + x);
  s = param(0.5) * sin(x when c);

node f(end: bool, c: bool, x: f64) -> (y: f64, s: f64 when c)
  a, s = g(end, c, x);
  b, _ = g(end, c, post_end(end, 0.25, a));
  y = b * post_end(end, 0.5, y) + a;
)");
}

// In another library, the adjoint of a reshape overwrites the adjoints from other uses of the
// tensor.
TEST(KnownDefects, reshape_gradient_accumulates) {
  expect_right(R"(
node f(x: f64[2, 3]) -> (y: f64)
  r = reshape([3, 2], x);
  y = sum(x * x) + sum(r * sin(r)) + sum(reshape([6], x));
)");
}

// In another library, the adjoint of a gather is added to the value, so later forward values are
// wrong.
TEST(KnownDefects, gathered_value_is_used_again) {
  expect_right(R"(
node f(x: f64[3], i: i32[4]) -> (y: f64)
  g = take(x, i);
  y = sum(g * g) + sum(g * take(x, 1 - i));
)");
}

// Takes a slice by an index, forward or backward, with a step that is a literal, a constant or a
// constant of another node.
TEST(Constructs, subscripts_with_steps) {
  expect_right(R"(
const back = -1;
const last = -1;
node part(first, step, v) -> (w)
  w = v[first::step] * v[first::step];
node f(x: f64[4, 5], i: i32) -> (y: f64[3], z: f64[4], turned: f64[5], w: f64[2], v: f64[2, 3])
  y = sin(x[maximum(0, minimum(i, 3)), ::2]);
  z = x[::-1, -1] * x[::back, last];
  turned = square(x[1, ::-1]);
  w = part(3, -2, x[:, 0]) + part(0, 3, x[last]);
  v = exp(x[::-2, 4:1:back]);
)");
}

TEST(Constructs, texts_go_along_with_what_is_copied) {
  expect_right(R"(
node f(c: bool, a: f64[2, 3], b: f64[3]) -> (y: f64[2])
  y = merge c einsum("ij,j->i", pad((a when c), 0, 0, mode="edge"), b when c) 0.5;
)");
}

}  // namespace

}  // namespace rml::gradients
