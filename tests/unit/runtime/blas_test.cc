// Compares BLAS with its definition, at each instruction set level of this processor: sizes
// around those of registers and panels, every option, strides, and equal bits wherever products
// are fused.
#include "runtime/lapack/blas_level.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/lapack/fortran.h"

extern "C" void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*, std::size_t,
                       std::size_t);
extern "C" void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                       const int*, const double*, double*, const int*, std::size_t);
extern "C" void dlaswp_(const int*, double*, const int*, const int*, const int*, const int*, const int*);

namespace {

using namespace rml::lapack;
using Size = std::int64_t;

bool has_fused() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}
bool has_wide() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#else
  return false;
#endif
}

// Calls f.template operator()<Blas>() for each level.
template <class T, class F>
void at_levels(F&& f) {
  f.template operator()<any::Blas<T>>();
#if defined(__x86_64__)
  if (has_fused()) f.template operator()<fused::Blas<T>>();
  if (has_wide()) f.template operator()<wide::Blas<T>>();
#endif
}

template <class T>
struct Matrix {
  Size rows, columns, ld;
  std::vector<T> data;
  Matrix(Size m, Size n, Size extra = 3) : rows(m), columns(n), ld(m + extra), data(ld * n, T(0.5)) {}
  T& operator()(Size i, Size j) { return data[i + j * ld]; }
  const T& operator()(Size i, Size j) const { return data[i + j * ld]; }
  const T& at(bool transposed, Size i, Size j) const { return transposed ? (*this)(j, i) : (*this)(i, j); }
};

template <class T>
Matrix<T> drawn(std::mt19937& from, Size m, Size n) {
  Matrix<T> a(m, n);
  std::uniform_real_distribution<T> values(-1, 1);
  for (T& v : a.data) v = values(from);
  return a;
}

template <class T>
void expect_near(const Matrix<T>& a, const Matrix<T>& b, double scale) {
  const double tolerance = scale * (sizeof(T) == 4 ? 1e-5 : 1e-13);
  for (std::size_t i = 0; i < a.data.size(); ++i)
    ASSERT_NEAR(double(a.data[i]), double(b.data[i]), tolerance) << "at " << i;
}

template <class T>
class OfType : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(OfType, Floats);

TYPED_TEST(OfType, products) {
  using T = TypeParam;
  std::mt19937 random(1);
  for (const auto& [m, n, k] : {std::array<Size, 3>{1, 1, 1}, {5, 3, 2}, {24, 8, 130}, {50, 17, 7}, {49, 9, 129}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const auto a = drawn<T>(random, ta ? k : m, ta ? m : k), b = drawn<T>(random, tb ? n : k, tb ? k : n);
        const auto c = drawn<T>(random, m, n);
        auto wanted = c;
        for (Size i = 0; i < m; ++i)
          for (Size j = 0; j < n; ++j)
            for (Size p = 0; p < k; ++p) wanted(i, j) += T(0.5) * a.at(ta, i, p) * b.at(tb, p, j);
        at_levels<T>([&]<class B>() {
          auto got = c;
          B::gemm(ta, tb, m, n, k, T(0.5), a.data.data(), a.ld, b.data.data(), b.ld, got.data.data(), got.ld);
          expect_near(got, wanted, 10);
        });
      }
    }
  }
}

TYPED_TEST(OfType, triangles_beside_other_elements) {
  using T = TypeParam;
  std::mt19937 random(2);
  for (const Size n : {1, 7, 8, 9, 40, 67}) {
    for (int options = 0; options < 16; ++options) {
      const bool left = options & 1, upper = options & 2, transposed = options & 4, unit = options & 8;
      const Size other = 21, rows = left ? n : other, columns = left ? other : n;
      auto a = drawn<T>(random, n, n);
      for (T& v : a.data) v *= T(0.1);
      for (Size i = 0; i < n; ++i) a(i, i) += T(2);
      const auto x = drawn<T>(random, rows, columns);
      auto b = x;  // op(A) X, or X op(A)
      for (Size i = 0; i < rows; ++i) {
        for (Size j = 0; j < columns; ++j) {
          T sum = 0;
          for (Size p = 0; p < n; ++p) {
            Size r = left ? i : p, c = left ? p : j;
            if (transposed) std::swap(r, c);
            const T factor = r == c ? (unit ? T(1) : a(r, c)) : (r < c) == upper ? a(r, c) : T(0);
            sum += factor * (left ? x(p, j) : x(i, p));
          }
          b(i, j) = sum;
        }
      }
      const TriangleCall call{left, upper, transposed, unit, rows, columns};
      at_levels<T>([&]<class B>() {
        auto got = x;
        B::trmm(call, a.data.data(), a.ld, got.data.data(), got.ld);
        expect_near(got, b, 20);
        got = b;
        B::trsm(call, a.data.data(), a.ld, got.data.data(), got.ld);
        expect_near(got, x, 20);
      });
    }
  }
}

TYPED_TEST(OfType, one_triangle_of_a_symmetric_matrix) {
  using T = TypeParam;
  std::mt19937 random(3);
  for (const Size n : {1, 3, 4, 6, 23, 24, 25, 70}) {
    for (const bool upper : {false, true}) {
      const auto a = drawn<T>(random, n, n), x = drawn<T>(random, n, 1), y = drawn<T>(random, n, 1);
      auto wanted = y;
      for (Size i = 0; i < n; ++i)
        for (Size j = 0; j < n; ++j)
          wanted(i, 0) += T(0.5) * ((i < j) == upper || i == j ? a(i, j) : a(j, i)) * x(j, 0);
      at_levels<T>([&]<class B>() {
        auto got = y;
        B::symv(upper, n, T(0.5), a.data.data(), a.ld, x.data.data(), got.data.data());
        expect_near(got, wanted, 20);
      });
      for (const bool transposed : {false, true}) {
        const Size k = 5;
        const auto u = transposed ? drawn<T>(random, k, n) : drawn<T>(random, n, k);
        const auto v = transposed ? drawn<T>(random, k, n) : drawn<T>(random, n, k);
        auto one = a, two = a;
        for (Size i = 0; i < n; ++i) {
          for (Size j = 0; j < n; ++j) {
            if (i != j && (i < j) != upper) continue;
            for (Size p = 0; p < k; ++p) {
              one(i, j) += T(0.5) * u.at(transposed, i, p) * u.at(transposed, j, p);
              two(i, j) += T(0.5) * (u.at(transposed, i, p) * v.at(transposed, j, p) +
                                     v.at(transposed, i, p) * u.at(transposed, j, p));
            }
          }
        }
        at_levels<T>([&]<class B>() {
          auto got = a;
          B::syrk(upper, transposed, n, k, T(0.5), u.data.data(), u.ld, got.data.data(), got.ld);
          expect_near(got, one, 10);
          got = a;
          B::syr2k(upper, transposed, n, k, T(0.5), u.data.data(), u.ld, v.data.data(), v.ld, got.data.data(), got.ld);
          expect_near(got, two, 10);
        });
      }
    }
  }
}

TYPED_TEST(OfType, vectors) {
  using T = TypeParam;
  std::mt19937 random(4);
  for (const Size n : {1, 4, 8, 15, 16, 17, 64, 77}) {
    const Size m = n + 3;
    const auto a = drawn<T>(random, m, n), x = drawn<T>(random, n, 1), y = drawn<T>(random, m, 1);
    auto down = y, across = x, outer = a, scaled = x, first = x, second = y;
    double product = 0;
    for (Size j = 0; j < n; ++j) {
      for (Size i = 0; i < m; ++i) {
        down(i, 0) += T(0.5) * a(i, j) * x(j, 0);
        across(j, 0) += T(0.5) * a(i, j) * y(i, 0);
        outer(i, j) += T(0.5) * y(i, 0) * x(j, 0);
      }
      product += double(x(j, 0)) * double(y(j, 0));
      scaled(j, 0) += T(0.5) * y(j, 0);
      first(j, 0) = T(0.6) * x(j, 0) + T(0.8) * y(j, 0);
      second(j, 0) = T(0.6) * y(j, 0) - T(0.8) * x(j, 0);
    }
    at_levels<T>([&]<class B>() {
      auto got = y;
      B::gemv(false, m, n, T(0.5), a.data.data(), a.ld, x.data.data(), 1, got.data.data(), 1);
      expect_near(got, down, 20);
      got = x;
      B::gemv(true, m, n, T(0.5), a.data.data(), a.ld, y.data.data(), 1, got.data.data(), 1);
      expect_near(got, across, 20);
      got = a;
      B::ger(m, n, T(0.5), y.data.data(), x.data.data(), 1, got.data.data(), got.ld);
      expect_near(got, outer, 20);
      got = x;
      B::axpy(n, T(0.5), y.data.data(), got.data.data());
      expect_near(got, scaled, 20);
      EXPECT_NEAR(double(B::dot(n, x.data.data(), y.data.data())), product, sizeof(T) == 4 ? 1e-4 : 1e-12);
      got = x;
      auto other = y;
      B::rot(n, got.data.data(), other.data.data(), T(0.6), T(0.8));
      expect_near(got, first, 20);
      expect_near(other, second, 20);
    });
  }
}

#if defined(__x86_64__)
TYPED_TEST(OfType, same_bits_wherever_products_are_fused) {
  using T = TypeParam;
  if (!has_wide()) GTEST_SKIP() << "a processor without 512 bits";
  std::mt19937 random(5);
  const Size n = 137;
  const auto a = drawn<T>(random, n, n), b = drawn<T>(random, n, n);
  const auto bits = [&]<class B>() {
    std::vector<T> all;
    const auto add = [&](const Matrix<T>& m) { all.insert(all.end(), m.data.begin(), m.data.end()); };
    auto c = b;
    B::gemm(false, true, n, n, n, T(0.3), a.data.data(), a.ld, b.data.data(), b.ld, c.data.data(), c.ld);
    add(c);
    B::gemv(true, n, n, T(0.3), a.data.data(), a.ld, b.data.data(), 1, c.data.data(), 1);
    B::gemv(false, n, n, T(0.3), a.data.data(), a.ld, b.data.data(), 1, c.data.data(), 1);
    B::symv(true, n, T(0.3), a.data.data(), a.ld, b.data.data(), c.data.data());
    B::symv(false, n, T(0.3), a.data.data(), a.ld, b.data.data(), c.data.data());
    B::rot(n, c.data.data(), c.data.data() + c.ld, T(0.6), T(0.8));
    add(c);
    B::syr2k(true, false, n, 40, T(0.3), a.data.data(), a.ld, b.data.data(), b.ld, c.data.data(), c.ld);
    add(c);
    c = b;
    B::trmm({false, true, false, true, n, n}, a.data.data(), a.ld, c.data.data(), c.ld);
    B::trsm({true, false, true, true, 20, n}, a.data.data(), a.ld, c.data.data(), c.ld);
    add(c);
    c(0, 0) = B::dot(n, a.data.data(), b.data.data());
    add(c);
    return all;
  };
  const auto one = bits.template operator()<fused::Blas<T>>(), other = bits.template operator()<wide::Blas<T>>();
  EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(T)), 0);
}
#endif

TEST(Fortran, what_beta_scales_by_0_is_not_read) {
  const double a[] = {1, 2, 3, 4}, alpha = 1, beta = 0;
  double c[] = {NAN, NAN, NAN, NAN};
  const int two = 2;
  dgemm_("n", "T", &two, &two, &two, &alpha, a, &two, a, &two, &beta, c, &two, 1, 1);
  EXPECT_EQ(std::vector<double>(c, c + 4), (std::vector<double>{10, 14, 14, 20}));
}

TEST(Fortran, strides_of_vectors) {
  // A = [1 3; 2 4]; x = (5, 6) with stride 2, y with stride -1, so that its last element is
  // stored first.
  const double a[] = {1, 2, 3, 4}, x[] = {5, 0, 6}, alpha = 2, beta = 3;
  const int two = 2, backward = -1;
  double y[] = {100, 200};
  dgemv_("N", &two, &two, &alpha, a, &two, x, &two, &beta, y, &backward, 1);
  EXPECT_EQ(std::vector<double>(y, y + 2), (std::vector<double>{300 + 2 * 34, 600 + 2 * 23}));
  dgemv_("T", &two, &two, &alpha, a, &two, x, &two, &beta, y, &backward, 1);
  EXPECT_EQ(std::vector<double>(y, y + 2), (std::vector<double>{3 * 368 + 2 * 39, 3 * 646 + 2 * 17}));
}

TEST(Fortran, exchanges_of_rows) {
  double a[] = {1, 2, 3, 4};
  const int n = 1, four = 4, first = 1, last = 3, pivots[] = {3, 4, 4}, forward = 1, backward = -1;
  dlaswp_(&n, a, &four, &first, &last, pivots, &forward);
  EXPECT_EQ(std::vector<double>(a, a + 4), (std::vector<double>{3, 4, 2, 1}));
  dlaswp_(&n, a, &four, &first, &last, pivots, &backward);
  EXPECT_EQ(std::vector<double>(a, a + 4), (std::vector<double>{1, 2, 3, 4}));
}

}  // namespace
