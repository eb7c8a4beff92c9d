// Transforms by Stockham's passes of radix 4, 2, 3, 5 and small primes. If n has a large prime
// factor, Bluestein's algorithm is used: a convolution with a chirp, by transforms of a longer,
// smooth length.
//
// A plan contains, in elements of its dtype (pairs of cosine and sine), the n roots exp(-2 pi i k
// / n). For Bluestein's algorithm these are followed by the roots of the longer length m, the
// chirp exp(-pi i k k / n), and the transform of its conjugate, divided by m. The plan of a real
// transform of even n is the plan of n / 2 points, followed by the n roots of n.
#include "runtime/kernels/fourier.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/base/rmlrt.h"

namespace {

constexpr std::int64_t largest_radix = 31;

template <class T>
struct Complex {
  T re, im;
};
template <class T>
Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
template <class T>
Complex<T> conjugate(Complex<T> a) {
  return {a.re, -a.im};
}
template <class T>
Complex<T> by_minus_i(Complex<T> a) {
  return {a.im, -a.re};
}

std::int64_t next_radix(std::int64_t n) {
  if (n % 4 == 0) return 4;
  for (std::int64_t radix = 2; radix * radix <= n; ++radix) {
    if (n % radix == 0) return radix;
  }
  return n;
}

bool smooth(std::int64_t n, std::int64_t largest) {
  while (n > 1) {
    const std::int64_t radix = next_radix(n);
    if (radix > largest) return false;
    n /= radix;
  }
  return true;
}

// The length for Bluestein's algorithm, at least 2 n - 1; 0 if the algorithm is not needed. A
// power of two, or 3 times one, so that nearly all passes have radix 4.
std::int64_t convolution_length(std::int64_t n) {
  if (smooth(n, largest_radix)) return 0;
  std::int64_t shortest = 0;
  for (const std::int64_t odd : {1, 3}) {
    std::int64_t m = odd;
    while (m < 2 * n - 1) m *= 2;
    if (shortest == 0 || m < shortest) shortest = m;
  }
  return shortest;
}

// The k-th of the n-th roots of unity. Its angle is reduced to the first eighth of a turn, so
// that symmetric roots are equal.
Complex<double> root(std::int64_t k, std::int64_t n) {
  constexpr double turn = 6.283185307179586476925286766559;
  std::int64_t octant = 8 * k;
  double cosine, sine;
  const auto at = [&](std::int64_t eighths) {
    const double angle = turn * static_cast<double>(eighths) / (8 * static_cast<double>(n));
    cosine = std::cos(angle), sine = std::sin(angle);
  };
  const std::int64_t quarter = octant / (2 * n);
  octant -= quarter * 2 * n;
  if (octant <= n) {
    at(octant);
  } else {
    at(2 * n - octant);
    std::swap(cosine, sine);
  }
  // Subtracting from 0 avoids -0.
  const Complex<double> turned[] = {{cosine, 0 - sine}, {0 - sine, 0 - cosine}, {0 - cosine, sine}, {sine, cosine}};
  return turned[quarter & 3];
}

template <class T>
void fill_roots(Complex<T>* to, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    const Complex<double> w = root(k, n);
    to[k] = {static_cast<T>(w.re), static_cast<T>(w.im)};
  }
}

// One pass, with m = length / r:
//
//   y[q + s (r p + k)] = w^(p k s) sum over j of x[q + s (p + m j)] exp(-2 pi i j k / r)
template <class T>
struct Pass {
  const Complex<T>* x;
  Complex<T>* y;
  const Complex<T>* roots;
  std::int64_t n, s, m;

  void radix2() const {
    for (std::int64_t p = 0; p < m; ++p) {
      const Complex<T> w = roots[p * s];
      const Complex<T>*a = x + s * p, *b = x + s * (p + m);
      Complex<T>* to = y + s * 2 * p;
      for (std::int64_t q = 0; q < s; ++q) {
        const Complex<T> u = a[q], v = b[q];
        to[q] = u + v;
        to[q + s] = w * (u - v);
      }
    }
  }

  void radix3() const {
    constexpr T sine = T(0.866025403784438646763723170752936);
    for (std::int64_t p = 0; p < m; ++p) {
      const Complex<T> w1 = roots[p * s], w2 = roots[2 * p * s];
      const Complex<T>*a = x + s * p, *b = a + s * m, *c = b + s * m;
      Complex<T>* to = y + s * 3 * p;
      for (std::int64_t q = 0; q < s; ++q) {
        const Complex<T> others = b[q] + c[q], turned = sine * by_minus_i(b[q] - c[q]);
        const Complex<T> middle = a[q] - T(0.5) * others;
        to[q] = a[q] + others;
        to[q + s] = w1 * (middle + turned);
        to[q + 2 * s] = w2 * (middle - turned);
      }
    }
  }

  void radix4() const {
    for (std::int64_t p = 0; p < m; ++p) {
      const Complex<T> w1 = roots[p * s], w2 = roots[2 * p * s], w3 = roots[3 * p * s];
      const Complex<T>*a = x + s * p, *b = a + s * m, *c = b + s * m, *d = c + s * m;
      Complex<T>* to = y + s * 4 * p;
      for (std::int64_t q = 0; q < s; ++q) {
        const Complex<T> even = a[q] + c[q], odd = b[q] + d[q], difference = a[q] - c[q];
        const Complex<T> turned = by_minus_i(b[q] - d[q]);
        to[q] = even + odd;
        to[q + s] = w1 * (difference + turned);
        to[q + 2 * s] = w2 * (even - odd);
        to[q + 3 * s] = w3 * (difference - turned);
      }
    }
  }

  void any(std::int64_t r) const {
    const std::int64_t step = n / r;
    for (std::int64_t p = 0; p < m; ++p) {
      for (std::int64_t k = 0; k < r; ++k) {
        const Complex<T> twiddle = roots[p * k * s];
        Complex<T>* to = y + s * (r * p + k);
        for (std::int64_t q = 0; q < s; ++q) {
          const Complex<T>* from = x + q + s * p;
          Complex<T> sum = from[0];
          std::int64_t place = 0;
          for (std::int64_t j = 1; j < r; ++j) {
            place += k;
            if (place >= r) place -= r;
            sum = sum + roots[place * step] * from[s * m * j];
          }
          to[q] = twiddle * sum;
        }
      }
    }
  }
};

// Transforms `data` of smooth length n in place; `other` has as many elements.
template <class T>
void passes(Complex<T>* data, Complex<T>* other, const Complex<T>* roots, std::int64_t n) {
  Complex<T>*from = data, *to = other;
  std::int64_t s = 1;
  for (std::int64_t length = n; length > 1;) {
    const std::int64_t r = next_radix(length);
    const Pass<T> pass{from, to, roots, n, s, length / r};
    if (r == 4)
      pass.radix4();
    else if (r == 2)
      pass.radix2();
    else if (r == 3)
      pass.radix3();
    else
      pass.any(r);
    std::swap(from, to);
    s *= r;
    length /= r;
  }
  if (from != data) std::copy_n(from, n, data);
}

// Like `passes`, for any length. `work` has room for two sequences of the convolution's length.
template <class T>
void transform(Complex<T>* data, Complex<T>* work, const Complex<T>* plan, std::int64_t n) {
  const std::int64_t m = convolution_length(n);
  if (m == 0) return passes(data, work, plan, n);
  const Complex<T>*roots = plan + n, *chirp = roots + m, *kernel = chirp + n;
  for (std::int64_t k = 0; k < n; ++k) work[k] = chirp[k] * data[k];
  std::fill(work + n, work + m, Complex<T>{0, 0});
  passes(work, work + m, roots, m);
  // The inverse transform, by conjugating before and after.
  for (std::int64_t k = 0; k < m; ++k) work[k] = conjugate(kernel[k] * work[k]);
  passes(work, work + m, roots, m);
  for (std::int64_t k = 0; k < n; ++k) data[k] = chirp[k] * conjugate(work[k]);
}

template <class T>
std::int64_t complex_plan_pairs(std::int64_t n) {
  const std::int64_t m = convolution_length(n);
  return m == 0 ? n : n + m + n + m;
}

// Computes in f64, so that a plan in f32 is rounded once. `work` has room for m more pairs.
void fill_plan(Complex<double>* plan, Complex<double>* work, std::int64_t n) {
  fill_roots(plan, n);
  const std::int64_t m = convolution_length(n);
  if (m == 0) return;
  Complex<double>*roots = plan + n, *chirp = roots + m, *kernel = chirp + n;
  fill_roots(roots, m);
  std::int64_t square = 0;  // k * k modulo 2 n
  for (std::int64_t k = 0; k < n; ++k) {
    chirp[k] = root(square, 2 * n);
    square = (square + 2 * k + 1) % (2 * n);
  }
  std::fill_n(kernel, m, Complex<double>{0, 0});
  for (std::int64_t k = 0; k < n; ++k) {
    const Complex<double> c = conjugate(chirp[k]);
    kernel[k] = c;
    if (k > 0) kernel[m - k] = c;
  }
  passes(kernel, work, roots, m);
  for (std::int64_t k = 0; k < m; ++k) kernel[k] = 1 / static_cast<double>(m) * kernel[k];
}

template <class T>
struct Work {
  Complex<T>*data, *more;
  Work(void* scratch, std::int64_t n) : data(static_cast<Complex<T>*>(scratch)), more(data + n) {}
};

template <class T>
T* elements(const rml_array& array) {
  return static_cast<T*>(array.data);
}

std::int64_t count(const rml_array& array, std::uint32_t axes) {
  std::int64_t product = 1;
  for (std::uint32_t k = 0; k < axes; ++k) product *= array.extents[k];
  return product;
}

template <class T>
void complex_transforms(const rml_kernel_call* call, bool inverse) {
  const rml_array& x = call->operands[0];
  const std::int64_t n = x.extents[x.rank - 2], batch = count(x, x.rank - 2);
  const auto* plan = elements<const Complex<T>>(call->operands[1]);
  const Work<T> work(call->scratch, n);
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto* from = elements<const Complex<T>>(x) + b * n;
    auto* to = elements<Complex<T>>(*call->result) + b * n;
    for (std::int64_t k = 0; k < n; ++k) work.data[k] = inverse ? conjugate(from[k]) : from[k];
    transform(work.data, work.more, plan, n);
    for (std::int64_t k = 0; k < n; ++k) to[k] = inverse ? conjugate(work.data[k]) : work.data[k];
  }
}

// Even and odd elements are the real and imaginary parts of a complex sequence of half the
// length.
template <class T>
void real_transform(const T* x, const Complex<T>* plan, const Work<T>& work, std::int64_t n, Complex<T>* to) {
  if (n % 2 != 0) {
    for (std::int64_t t = 0; t < n; ++t) work.data[t] = {x[t], 0};
    transform(work.data, work.more, plan, n);
    std::copy_n(work.data, n / 2 + 1, to);
    return;
  }
  const std::int64_t h = n / 2;
  const Complex<T>* roots = plan + complex_plan_pairs<T>(h);
  for (std::int64_t t = 0; t < h; ++t) work.data[t] = {x[2 * t], x[2 * t + 1]};
  transform(work.data, work.more, plan, h);
  for (std::int64_t k = 0; k <= h; ++k) {
    const Complex<T> z = work.data[k % h], mirrored = conjugate(work.data[(h - k) % h]);
    const Complex<T> even = T(0.5) * (z + mirrored), odd = T(0.5) * by_minus_i(z - mirrored);
    to[k] = even + roots[k] * odd;
  }
}

// Uses a Hermitian H whose full sum equals the real part of the half sum: H[k] = (g[k] + conj g[n
// - k]) / 2.
template <class T>
void real_terms(const Complex<T>* g, const Complex<T>* plan, const Work<T>& work, std::int64_t n, T* to) {
  const std::int64_t h = n / 2;
  const auto hermitian = [&](std::int64_t k) -> Complex<T> {
    if (k == 0) return {g[0].re, 0};
    if (2 * k == n) return {g[k].re, 0};
    return k <= h ? T(0.5) * g[k] : T(0.5) * conjugate(g[n - k]);
  };
  if (n % 2 != 0) {
    for (std::int64_t k = 0; k < n; ++k) work.data[k] = conjugate(hermitian(k));
    transform(work.data, work.more, plan, n);
    for (std::int64_t t = 0; t < n; ++t) to[t] = work.data[t].re;
    return;
  }
  const Complex<T>* roots = plan + complex_plan_pairs<T>(h);
  for (std::int64_t k = 0; k < h; ++k) {
    const Complex<T> a = hermitian(k), b = hermitian(k + h);
    const Complex<T> even = a + b, odd = conjugate(roots[k]) * (a - b);
    work.data[k] = conjugate(even - by_minus_i(odd));
  }
  transform(work.data, work.more, plan, h);
  for (std::int64_t t = 0; t < h; ++t) {
    to[2 * t] = work.data[t].re;
    to[2 * t + 1] = -work.data[t].im;
  }
}

template <class T>
void frames(const rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &y = *call->result;
  const std::int64_t n = x.extents[x.rank - 1], number = y.extents[y.rank - 2], length = y.extents[y.rank - 1];
  const std::int64_t hop = call->attributes[1].integers[0], batch = count(x, x.rank - 1);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t f = 0; f < number; ++f)
      std::copy_n(elements<const T>(x) + b * n + f * hop, length, elements<T>(y) + (b * number + f) * length);
  }
}

template <class T>
void overlap_add(const rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &y = *call->result;
  const std::int64_t n = y.extents[y.rank - 1], number = x.extents[x.rank - 2], length = x.extents[x.rank - 1];
  const std::int64_t hop = call->attributes[1].integers[0], batch = count(y, y.rank - 1);
  std::fill_n(elements<T>(y), batch * n, T(0));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t f = 0; f < number; ++f) {
      const T* from = elements<const T>(x) + (b * number + f) * length;
      T* to = elements<T>(y) + b * n + f * hop;
      for (std::int64_t k = 0; k < length; ++k) to[k] += from[k];
    }
  }
}

template <class F>
std::int32_t for_float(const rml_kernel_call* call, F&& f) {
  if (call->result->dtype == RML_F32)
    f.template operator()<float>();
  else
    f.template operator()<double>();
  return RML_OK;
}

}  // namespace

extern "C" {

std::int64_t rml_fourier_plan_size(std::int64_t n, std::int64_t real) {
  if (real == 0 || n % 2 != 0) return 2 * complex_plan_pairs<double>(n);
  return 2 * (complex_plan_pairs<double>(n / 2) + n);
}

std::int64_t rml_fourier_bytes(std::int64_t n, std::int64_t size) {
  const std::int64_t half = n / 2, longest = std::max(convolution_length(n), convolution_length(half));
  return 2 * size * (n + std::max(n, 2 * longest));
}

std::int32_t rml_fourier_plan(rml_kernel_call* call) {
  const std::int64_t n = call->attributes[0].integers[0], real = call->attributes[1].integers[0];
  const bool halved = real != 0 && n % 2 == 0;
  const std::int64_t points = halved ? n / 2 : n, pairs = rml_fourier_plan_size(n, real) / 2;
  auto* plan = static_cast<Complex<double>*>(call->scratch);
  fill_plan(plan, plan + pairs, points);
  if (halved) fill_roots(plan + complex_plan_pairs<double>(points), n);
  return for_float(call, [&]<class T>() {
    auto* to = elements<Complex<T>>(*call->result);
    for (std::int64_t k = 0; k < pairs; ++k) to[k] = {static_cast<T>(plan[k].re), static_cast<T>(plan[k].im)};
  });
}

std::int32_t rml_fourier(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() { complex_transforms<T>(call, call->attributes[0].integers[0] != 0); });
}

std::int32_t rml_real_fourier(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() {
    const rml_array& x = call->operands[0];
    const std::int64_t n = x.extents[x.rank - 1], batch = count(x, x.rank - 1);
    const Work<T> work(call->scratch, n);
    for (std::int64_t b = 0; b < batch; ++b)
      real_transform(elements<const T>(x) + b * n, elements<const Complex<T>>(call->operands[1]), work, n,
                     elements<Complex<T>>(*call->result) + b * (n / 2 + 1));
  });
}

std::int32_t rml_real_fourier_terms(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() {
    const rml_array& y = *call->result;
    const std::int64_t n = y.extents[y.rank - 1], batch = count(y, y.rank - 1);
    const Work<T> work(call->scratch, n);
    for (std::int64_t b = 0; b < batch; ++b)
      real_terms(elements<const Complex<T>>(call->operands[0]) + b * (n / 2 + 1),
                 elements<const Complex<T>>(call->operands[1]), work, n, elements<T>(y) + b * n);
  });
}

std::int32_t rml_frames(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() { frames<T>(call); });
}

std::int32_t rml_overlap_add(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() { overlap_add<T>(call); });
}

}  // extern "C"
