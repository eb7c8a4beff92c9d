// Random tensors: Philox4x32-10 and the distributions drawn from its blocks, bit for bit as in
// runtime/kernels/random.cc.
#include "lowering/c/drawing.h"

#include "lowering/c/literals.h"

namespace rml::c99 {

namespace {

constexpr const char* philox_text = R"(
/* Random numbers: blocks of Philox4x32-10. */
static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
  int round;
  for (round = 0; round < 10; ++round) {
    const uint64_t p0 = UINT64_C(0xD2511F53) * c0, p1 = UINT64_C(0xCD9E8D57) * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}
/* The key of the draws of one operator, from the seed and what identifies the operator. */
static void draw_key(uint64_t seed, uint64_t operator_key, uint32_t key[2]) {
  const uint32_t words[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const uint32_t counter[4] = {(uint32_t)operator_key, (uint32_t)(operator_key >> 32), 0, 0};
  uint32_t derived[4];
  philox(counter, words, derived);
  key[0] = derived[0], key[1] = derived[1];
}
static void draw_block(const uint32_t key[2], uint64_t index, int64_t cycle, uint32_t out[4]) {
  const uint64_t now = (uint64_t)cycle;
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)now, (uint32_t)(now >> 32)};
  philox(counter, key, out);
}
)";

constexpr const char* unit_text = R"(
/* In [0, 1), a multiple of 2^-53. */
static double draw_unit(uint32_t low, uint32_t high) {
  return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}
)";

constexpr const char* normals_text = R"(
/* log x = e log 2 + 2 artanh((m - 1) / (m + 1)), by its power series, x = m 2^e. */
static double draw_logarithm(double x) {
  int exponent = 0, n;
  double m = frexp(x, &exponent), s, square, series = 0.0;
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  s = (m - 1) / (m + 1);
  square = s * s;
  for (n = 23; n >= 3; n -= 2) series = square * (1.0 / n + series);
  return exponent * 0x1.62e42feep-1 + (exponent * 0x1.a39ef35793c76p-33 + 2 * (s + s * series));
}
/* Two normal numbers of a block, by Box and Muller; cos and sin of 2 pi u by their power series. */
static void draw_normals(const uint32_t word[4], double out[2]) {
  const double radius = sqrt(-2 * draw_logarithm(1 - draw_unit(word[0], word[1])));
  const double u = draw_unit(word[2], word[3]);
  const int quarter = (int)(u * 4 + 0.5);
  const double x = (u - quarter * 0.25) * 6.283185307179586, square = x * x;
  double c = 0.0, s = 0.0, cosine, sine;
  int n;
  for (n = 18; n >= 2; n -= 2) c = -square / (n * (n - 1)) * (1 + c);
  for (n = 19; n >= 3; n -= 2) s = -square / (n * (n - 1)) * (1 + s);
  c = 1 + c;
  s = x + x * s;
  cosine = (quarter & 3) == 0 ? c : (quarter & 3) == 1 ? -s : (quarter & 3) == 2 ? -c : s;
  sine = (quarter & 3) == 0 ? s : (quarter & 3) == 1 ? c : (quarter & 3) == 2 ? -s : -c;
  out[0] = radius * cosine;
  out[1] = radius * sine;
}
)";

constexpr const char* uniform_f32_text = R"(
static void draw_uniform_f32(float* out, int64_t n, double a, double b, uint64_t seed, uint64_t operator_key,
                             int64_t cycle) {
  uint32_t key[2], word[4] = {0, 0, 0, 0};
  int64_t k;
  draw_key(seed, operator_key, key);
  for (k = 0; k < n; ++k) {
    if (k % 4 == 0) draw_block(key, (uint64_t)(k / 4), cycle, word);
    out[k] = (float)(a + (b - a) * ((word[k % 4] >> 8) * 0x1p-24));
    if (out[k] >= (float)b) out[k] = nextafterf((float)b, (float)a); /* the interval is half open */
  }
}
)";
constexpr const char* uniform_f64_text = R"(
static void draw_uniform_f64(double* out, int64_t n, double a, double b, uint64_t seed, uint64_t operator_key,
                             int64_t cycle) {
  uint32_t key[2], word[4] = {0, 0, 0, 0};
  int64_t k;
  draw_key(seed, operator_key, key);
  for (k = 0; k < n; ++k) {
    if (k % 2 == 0) draw_block(key, (uint64_t)(k / 2), cycle, word);
    out[k] = a + (b - a) * draw_unit(word[2 * (k % 2)], word[2 * (k % 2) + 1]);
    if (out[k] >= b) out[k] = nextafter(b, a); /* the interval is half open */
  }
}
)";
// Code that draws normal numbers. T and N are replaced by a type and a name.
constexpr const char* normal_text = R"(
static void draw_normal_N(T* out, int64_t n, double mean, double deviation, uint64_t seed, uint64_t operator_key,
                          int64_t cycle) {
  uint32_t key[2], word[4];
  double normal[2] = {0.0, 0.0};
  int64_t k;
  draw_key(seed, operator_key, key);
  for (k = 0; k < n; ++k) {
    if (k % 2 == 0) {
      draw_block(key, (uint64_t)(k / 2), cycle, word);
      draw_normals(word, normal);
    }
    out[k] = (T)(mean + deviation * normal[k % 2]);
  }
}
)";
constexpr const char* truncated_text = R"(
/* The first normal within two deviations, of blocks far apart. */
static void draw_truncated_normal_N(T* out, int64_t n, double mean, double deviation, uint64_t seed,
                                    uint64_t operator_key, int64_t cycle) {
  uint32_t key[2], word[4];
  double normal[2], x;
  int64_t k;
  draw_key(seed, operator_key, key);
  for (k = 0; k < n; ++k) {
    uint64_t block = (uint64_t)k;
    do {
      draw_block(key, block, cycle, word);
      draw_normals(word, normal);
      x = fabs(normal[0]) <= 2 ? normal[0] : normal[1];
      block += UINT64_C(1) << 33;
    } while (fabs(x) > 2);
    out[k] = (T)(mean + deviation * x);
  }
}
)";
constexpr const char* bernoulli_text = R"(
static void draw_bernoulli_N(T* out, int64_t n, double p, double unused, uint64_t seed, uint64_t operator_key,
                             int64_t cycle) {
  int64_t k;
  (void)unused;
  draw_uniform_N(out, n, 0.0, 1.0, seed, operator_key, cycle);
  for (k = 0; k < n; ++k) out[k] = (double)out[k] < p ? (T)1 : (T)0;
}
)";

constexpr const char* orthogonal_text = R"(
static double draw_product_N(const T* x, const T* y, int64_t length, int64_t step) {
  double sum = 0;
  int64_t i;
  for (i = 0; i < length; ++i) sum += (double)x[i * step] * (double)y[i * step];
  return sum;
}
/* Normal numbers, the shorter vectors made orthonormal by Gram and Schmidt; 0: they depend on each other. */
static int draw_orthogonal_N(T* out, int64_t rows, int64_t columns, uint64_t seed, uint64_t operator_key,
                             int64_t cycle) {
  const int64_t count = rows <= columns ? rows : columns, length = rows <= columns ? columns : rows;
  const int64_t next = rows <= columns ? columns : 1, step = rows <= columns ? 1 : columns;
  int64_t k, j, i;
  int round;
  draw_normal_N(out, rows * columns, 0, 1, seed, operator_key, cycle);
  for (k = 0; k < count; ++k) {
    T* const x = out + k * next;
    for (round = 0; round < 2; ++round) {
      double norm;
      for (j = 0; j < k; ++j) {
        const T* const y = out + j * next;
        const double along = draw_product_N(x, y, length, step);
        for (i = 0; i < length; ++i) x[i * step] = (T)((double)x[i * step] - along * (double)y[i * step]);
      }
      norm = sqrt(draw_product_N(x, x, length, step));
      if (!(norm > 0)) return 0;
      for (i = 0; i < length; ++i) x[i * step] = (T)((double)x[i * step] / norm);
    }
  }
  return 1;
}
)";

std::string of_dtype(std::string text, DType dtype) {
  const std::string type = type_name(dtype), suffix = "_" + std::string(name(dtype)) + "(";
  for (std::size_t at = 0; (at = text.find("_N(", at)) != std::string::npos;) text.replace(at, 3, suffix);
  for (const std::string before : {"(", " "})
    for (std::size_t at = 0; (at = text.find(before + "T", at)) != std::string::npos; ++at)
      if (text[at + 2] == '*' || text[at + 2] == ')') text.replace(at + 1, 1, type);
  return text.substr(1, text.size() - 2);
}

}  // namespace

std::string add_drawing(Helpers& helpers, const std::string& symbol, DType dtype) {
  const std::string suffix = "_" + std::string(name(dtype));
  const auto unit = [&] {
    const std::string text = unit_text;
    helpers.add("draw_unit", text.substr(1, text.size() - 2));
  };
  const auto uniform = [&] {
    if (dtype == DType::f64) unit();
    const char* const text = dtype == DType::f32 ? uniform_f32_text : uniform_f64_text;
    return helpers.add("draw_uniform" + suffix, of_dtype(text, dtype));
  };
  const auto normal = [&](const std::string& which, const char* text) {
    unit();
    const std::string shared = normals_text;
    helpers.add("draw_normals", shared.substr(1, shared.size() - 2));
    return helpers.add("draw_" + which + suffix, of_dtype(text, dtype));
  };
  if (dtype != DType::f32 && dtype != DType::f64) return "";
  const bool of_normals = symbol == "rml_random_normal" || symbol == "rml_random_glorot_normal" ||
                          symbol == "rml_random_he_normal" || symbol == "rml_random_lecun_normal";
  const bool of_uniforms = symbol == "rml_random_uniform" || symbol == "rml_random_glorot_uniform" ||
                           symbol == "rml_random_he_uniform" || symbol == "rml_random_lecun_uniform";
  const bool bernoulli = symbol == "rml_random_bernoulli", truncated = symbol == "rml_random_truncated_normal";
  const bool orthogonal = symbol == "rml_random_orthogonal";
  if (!of_normals && !of_uniforms && !bernoulli && !truncated && !orthogonal) return "";
  helpers.add("philox", std::string(philox_text).substr(0, std::string(philox_text).size() - 1));
  if (of_uniforms) return uniform();
  if (of_normals) return normal("normal", normal_text);
  if (orthogonal) {
    normal("normal", normal_text);
    return helpers.add("draw_orthogonal" + suffix, of_dtype(orthogonal_text, dtype));
  }
  if (truncated) return normal("truncated_normal", truncated_text);
  uniform();
  return helpers.add("draw_bernoulli" + suffix, of_dtype(bernoulli_text, dtype));
}

}  // namespace rml::c99
