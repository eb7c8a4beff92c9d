// Philox4x32-10 and the random tensors drawn from it; see random.h.
//
// Streams: one block of Philox with the seed converts the key of an instance to the 64-bit key of
// its draws. Their counter is (block, cycle). A uniform f32 takes one of the four words of a
// block, a uniform f64 two, and two normals (of either dtype) take one block, by the Box-Muller
// method in f64. So element i is in block i/4 or i/2, whatever the shape of the tensor. A
// truncated normal is the first of the normals in blocks i, i + 2^33, i + 2 2^33, … that is
// within the bounds. This file must be compiled without contraction of floating-point
// expressions.
#include "runtime/kernels/random.h"

#include <cmath>
#include <cstdint>

#include "runtime/base/rmlrt.h"

namespace {

struct Words {
  std::uint32_t word[4];
};

// The random blocks of one draw.
class Source {
 public:
  Source(std::uint64_t seed, std::uint64_t key, std::int64_t cycle) : cycle_(static_cast<std::uint64_t>(cycle)) {
    const std::uint32_t seed_words[2] = {low(seed), high(seed)};
    const std::uint32_t instance[4] = {low(key), high(key), 0, 0};
    std::uint32_t derived[4];
    rml_philox4x32_10(instance, seed_words, derived);
    key_[0] = derived[0];
    key_[1] = derived[1];
  }

  Words block(std::uint64_t index) const {
    const std::uint32_t counter[4] = {low(index), high(index), low(cycle_), high(cycle_)};
    Words words;
    rml_philox4x32_10(counter, key_, words.word);
    return words;
  }

 private:
  static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

  std::uint64_t cycle_;
  std::uint32_t key_[2];
};

// A number in [0, 1), which is a multiple of 2^-53.
double unit(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

// The natural logarithm of a normal number: x = m 2^e with m in [1/√2, √2), and
// log m = 2 artanh s with s = (m - 1)/(m + 1), |s| < 0.172, by its power series.
double logarithm(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = square * (1.0 / n + series);
  // The high part of log 2 is a multiple of 2^-33, so that its product with an exponent is exact.
  constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  return exponent * ln2_high + (exponent * ln2_low + 2 * (s + s * series));
}

// cos and sin of 2πu for 0 ≤ u < 1: the nearest quarter turn is subtracted, and power series are
// used for the rest, which is at most an eighth of a turn.
void turn(double u, double& cosine, double& sine) {
  const int quarter = static_cast<int>(u * 4 + 0.5);
  const double x = (u - quarter * 0.25) * 6.283185307179586, square = x * x;
  double c = 0, s = 0;
  for (int n = 18; n >= 2; n -= 2) c = -square / (n * (n - 1)) * (1 + c);
  for (int n = 19; n >= 3; n -= 2) s = -square / (n * (n - 1)) * (1 + s);
  c = 1 + c;
  s = x + x * s;
  switch (quarter & 3) {
    case 0:
      cosine = c, sine = s;
      break;
    case 1:
      cosine = -s, sine = c;
      break;
    case 2:
      cosine = -c, sine = -s;
      break;
    default:
      cosine = s, sine = -c;
      break;
  }
}

std::uint64_t element_count(const std::uint64_t* dims, std::uint32_t rank) {
  std::uint64_t count = 1;
  for (std::uint32_t k = 0; k < rank; ++k) count *= dims[k];
  return count;
}

// A number in [a, b). If rounding to T yields b, the result is the largest number below it.
template <class T>
T scaled(double u, double a, double b) {
  const T value = static_cast<T>(a + (b - a) * u);
  return value >= static_cast<T>(b) ? std::nextafter(static_cast<T>(b), static_cast<T>(a)) : value;
}

void fill_uniform(float* out, std::uint64_t count, double a, double b, const Source& source) {
  for (std::uint64_t i = 0; i < count; i += 4) {
    const Words words = source.block(i / 4);
    for (std::uint64_t k = i; k < count && k < i + 4; ++k)
      out[k] = scaled<float>((words.word[k - i] >> 8) * 0x1p-24, a, b);
  }
}

void fill_uniform(double* out, std::uint64_t count, double a, double b, const Source& source) {
  for (std::uint64_t i = 0; i < count; i += 2) {
    const Words words = source.block(i / 2);
    out[i] = scaled<double>(unit(words.word[0], words.word[1]), a, b);
    if (i + 1 < count) out[i + 1] = scaled<double>(unit(words.word[2], words.word[3]), a, b);
  }
}

// Draws normal numbers. 1 - u is in (0, 1], so its logarithm is finite.
struct Normals {
  double first, second;
  explicit Normals(const Words& words) {
    const double radius = std::sqrt(-2 * logarithm(1 - unit(words.word[0], words.word[1])));
    double cosine, sine;
    turn(unit(words.word[2], words.word[3]), cosine, sine);
    first = radius * cosine, second = radius * sine;
  }
};

template <class T>
void fill_normal(T* out, std::uint64_t count, double mean, double deviation, const Source& source) {
  for (std::uint64_t i = 0; i < count; i += 2) {
    const Normals normals(source.block(i / 2));
    out[i] = static_cast<T>(mean + deviation * normals.first);
    if (i + 1 < count) out[i + 1] = static_cast<T>(mean + deviation * normals.second);
  }
}

template <class T>
void fill_truncated_normal(T* out, std::uint64_t count, double mean, double deviation, const Source& source) {
  constexpr std::uint64_t attempt = std::uint64_t{1} << 33;  // distance of the counters of two attempts for an element
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t block = i;; block += attempt) {
      const Normals normals(source.block(block));
      const double x = std::fabs(normals.first) <= 2 ? normals.first : normals.second;
      if (std::fabs(x) > 2) continue;
      out[i] = static_cast<T>(mean + deviation * x);
      break;
    }
  }
}

// True if a uniform draw from [0, 1) is below p, so p = 0 never and p = 1 always gives 1.
template <class T>
void fill_bernoulli(T* out, std::uint64_t count, double p, const Source& source) {
  fill_uniform(out, count, 0, 1, source);
  for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<double>(out[i]) < p ? T(1) : T(0);
}

// Orthonormalises `count` vectors of `length` elements, with count ≤ length. Vector k begins at k
// * vector_stride, and its elements are element_stride apart. Uses the Gram-Schmidt method; each
// vector is orthogonalised twice, which makes it orthogonal up to rounding. Sums are in f64.
// Returns false if the vectors are linearly dependent.
template <class T>
bool orthonormalise(T* matrix, std::uint64_t count, std::uint64_t length, std::uint64_t vector_stride,
                    std::uint64_t element_stride) {
  const auto product = [&](const T* x, const T* y) {
    double sum = 0;
    for (std::uint64_t i = 0; i < length; ++i) {
      sum += static_cast<double>(x[i * element_stride]) * static_cast<double>(y[i * element_stride]);
    }
    return sum;
  };
  for (std::uint64_t k = 0; k < count; ++k) {
    T* x = matrix + k * vector_stride;
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t j = 0; j < k; ++j) {
        const T* y = matrix + j * vector_stride;
        const double along = product(x, y);
        for (std::uint64_t i = 0; i < length; ++i) {
          x[i * element_stride] = static_cast<T>(static_cast<double>(x[i * element_stride]) -
                                                 along * static_cast<double>(y[i * element_stride]));
        }
      }
      const double norm = std::sqrt(product(x, x));
      if (!(norm > 0)) return false;
      for (std::uint64_t i = 0; i < length; ++i) {
        x[i * element_stride] = static_cast<T>(static_cast<double>(x[i * element_stride]) / norm);
      }
    }
  }
  return true;
}

template <class T>
bool fill_orthogonal(T* out, const std::uint64_t* dims, std::uint32_t rank, const Source& source) {
  const std::uint64_t count = element_count(dims, rank);
  if (count == 0) return true;
  fill_normal(out, count, 0, 1, source);
  const std::uint64_t rows = rank < 2 ? 1 : dims[0], columns = count / rows;
  return rows <= columns ? orthonormalise(out, rows, columns, columns, 1)
                         : orthonormalise(out, columns, rows, 1, columns);
}

struct Fans {
  double in, out;
};

Fans fans(const std::uint64_t* dims, std::uint32_t rank) {
  const auto n = static_cast<double>(element_count(dims, rank));
  if (rank < 2) return {n, n};
  return {static_cast<double>(element_count(dims + 1, rank - 1)), static_cast<double>(dims[0])};
}

}  // namespace

extern "C" {

void rml_philox4x32_10(const std::uint32_t counter[4], const std::uint32_t key[2], std::uint32_t out[4]) {
  std::uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  std::uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

std::int32_t rml_random_uniform(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank, double a,
                                double b, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const Source source(seed, key, cycle);
  const std::uint64_t count = element_count(dims, rank);
  if (dtype == RML_F32)
    fill_uniform(static_cast<float*>(out), count, a, b < a ? a : b, source);
  else
    fill_uniform(static_cast<double*>(out), count, a, b < a ? a : b, source);
  return RML_OK;
}

std::int32_t rml_random_normal(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank, double a,
                               double b, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const Source source(seed, key, cycle);
  const std::uint64_t count = element_count(dims, rank);
  if (dtype == RML_F32)
    fill_normal(static_cast<float*>(out), count, a, b, source);
  else
    fill_normal(static_cast<double*>(out), count, a, b, source);
  return RML_OK;
}

std::int32_t rml_random_bernoulli(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank,
                                  double p, double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const Source source(seed, key, cycle);
  const std::uint64_t count = element_count(dims, rank);
  if (dtype == RML_F32)
    fill_bernoulli(static_cast<float*>(out), count, p, source);
  else
    fill_bernoulli(static_cast<double*>(out), count, p, source);
  return RML_OK;
}

std::int32_t rml_random_truncated_normal(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank,
                                         double mean, double deviation, std::uint64_t seed, std::uint64_t key,
                                         std::int64_t cycle) {
  const Source source(seed, key, cycle);
  const std::uint64_t count = element_count(dims, rank);
  if (dtype == RML_F32)
    fill_truncated_normal(static_cast<float*>(out), count, mean, deviation, source);
  else
    fill_truncated_normal(static_cast<double*>(out), count, mean, deviation, source);
  return RML_OK;
}

std::int32_t rml_random_glorot_uniform(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank,
                                       double, double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const Fans fan = fans(dims, rank);
  const double limit = std::sqrt(6 / (fan.in + fan.out));
  return rml_random_uniform(out, dtype, dims, rank, -limit, limit, seed, key, cycle);
}

std::int32_t rml_random_glorot_normal(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank,
                                      double, double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const Fans fan = fans(dims, rank);
  return rml_random_normal(out, dtype, dims, rank, 0, std::sqrt(2 / (fan.in + fan.out)), seed, key, cycle);
}

std::int32_t rml_random_he_uniform(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank, double,
                                   double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const double limit = std::sqrt(6 / fans(dims, rank).in);
  return rml_random_uniform(out, dtype, dims, rank, -limit, limit, seed, key, cycle);
}

std::int32_t rml_random_he_normal(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank, double,
                                  double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  return rml_random_normal(out, dtype, dims, rank, 0, std::sqrt(2 / fans(dims, rank).in), seed, key, cycle);
}

std::int32_t rml_random_lecun_uniform(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank,
                                      double, double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const double limit = std::sqrt(3 / fans(dims, rank).in);
  return rml_random_uniform(out, dtype, dims, rank, -limit, limit, seed, key, cycle);
}

std::int32_t rml_random_lecun_normal(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank,
                                     double, double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  return rml_random_normal(out, dtype, dims, rank, 0, std::sqrt(1 / fans(dims, rank).in), seed, key, cycle);
}

std::int32_t rml_random_orthogonal(void* out, std::uint8_t dtype, const std::uint64_t* dims, std::uint32_t rank, double,
                                   double, std::uint64_t seed, std::uint64_t key, std::int64_t cycle) {
  const Source source(seed, key, cycle);
  const bool independent = dtype == RML_F32 ? fill_orthogonal(static_cast<float*>(out), dims, rank, source)
                                            : fill_orthogonal(static_cast<double*>(out), dims, rank, source);
  return independent ? RML_OK : RML_FAULT_NUMERIC;
}

}  // extern "C"
