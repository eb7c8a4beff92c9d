// The BLAS routines in which LAPACK's blocked routines spend their time, for one level of
// processors.
//
// A product C += alpha op(A) op(B) is computed panel by panel of A. The rows of a panel are
// packed into a small buffer in the order of the registers, and a tile of C stays in registers.
// Every element of C is a sum in the order of k, divided at the same places at every level, so
// all processors with fused multiplication give the same bits. Triangular systems and products
// are halved until a block is small; the rest is a product. Dot products have the same number of
// partial sums at every level.
//
// This file is compiled once for each level, RML_BLAS_LEVEL, with the instructions of that level.
// Matrices are column-major, as in LAPACK. Nothing is allocated; a panel takes 24 KiB of the
// stack.
#include "runtime/lapack/blas_level.h"

#if RML_BLAS_WIDE
#include <immintrin.h>
#endif

namespace rml::lapack::RML_BLAS_LEVEL {
namespace {

using Size = std::int64_t;

// Vectors of 64 bytes, whatever the width of the registers: two or four narrower registers form
// one.
template <class T>
struct Lanes;
template <>
struct Lanes<double> {
  typedef double V __attribute__((vector_size(64)));
};
template <>
struct Lanes<float> {
  typedef float V __attribute__((vector_size(64)));
};
template <class T>
using Vector = typename Lanes<T>::V;
template <class T>
constexpr Size width = 64 / sizeof(T);

#if RML_BLAS_WIDE
constexpr Size tile_vectors = 3, tile_columns = 8;
#else
constexpr Size tile_vectors = 1, tile_columns = 6;
#endif
constexpr Size depth = 128;  // number of values of k in a panel

constexpr Size smaller(Size a, Size b) { return a < b ? a : b; }

template <class T>
Vector<T> load(const T* from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class T>
void store(T* to, Vector<T> v) {
  __builtin_memcpy(to, &v, sizeof v);
}
// Loads the first n lanes, 0 < n; the others are 0 and are not stored.
template <class T>
Vector<T> load_part(const T* from, Size n) {
#if RML_BLAS_WIDE
  if constexpr (sizeof(T) == 8)
    return (Vector<T>)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), from);
  else
    return (Vector<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), from);
#else
  T lanes[width<T>] = {};
  for (Size i = 0; i < n; ++i) lanes[i] = from[i];
  return load(lanes);
#endif
}
template <class T>
void store_part(T* to, Vector<T> v, Size n) {
#if RML_BLAS_WIDE
  if constexpr (sizeof(T) == 8)
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << n) - 1), (__m512d)v);
  else
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << n) - 1), (__m512)v);
#else
  T lanes[width<T>];
  store(lanes, v);
  for (Size i = 0; i < n; ++i) to[i] = lanes[i];
#endif
}
// Adds the lanes of a vector, halving it until one lane is left.
inline double sum(Vector<double> v) {
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  return v[0];
}
inline float sum(Vector<float> v) {
  v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  return v[0];
}

// A matrix operand, whose element (i, j) is data[i * down + j * across].
template <class T>
struct View {
  const T* data;
  Size down, across;
  const T& at(Size i, Size j) const { return data[i * down + j * across]; }
  View from(Size i, Size j) const { return {data + i * down + j * across, down, across}; }
};

// Adds alpha times the packed panel times B to a tile of C with `rows` rows. rows <= vectors *
// width.
template <class T, Size vectors, Size columns>
void tile(Size k, T alpha, const T* packed, View<T> b, T* c, Size ldc, Size rows) {
  Vector<T> sums[columns][vectors] = {};
  const T* row = b.data;
  for (Size p = 0; p < k; ++p, packed += vectors * width<T>, row += b.down) {
    Vector<T> a[vectors];
    for (Size v = 0; v < vectors; ++v) a[v] = load(packed + v * width<T>);
    for (Size j = 0; j < columns; ++j) {
      const T factor = row[j * b.across];
      for (Size v = 0; v < vectors; ++v) sums[j][v] += a[v] * factor;
    }
  }
  for (Size j = 0; j < columns; ++j) {
    for (Size v = 0; v < vectors; ++v) {
      T* to = c + j * ldc + v * width<T>;
      const Size n = smaller(width<T>, rows - v * width<T>);
      if (n == width<T>)
        store(to, load(to) + alpha * sums[j][v]);
      else if (n > 0)
        store_part(to, load_part(to, n) + alpha * sums[j][v], n);
    }
  }
}

template <class T, Size vectors, Size columns = tile_columns>
void tiles(Size n, Size k, T alpha, const T* packed, View<T> b, T* c, Size ldc, Size rows) {
  for (; n >= columns; n -= columns, b = b.from(0, columns), c += columns * ldc)
    tile<T, vectors, columns>(k, alpha, packed, b, c, ldc, rows);
  if constexpr (columns > 1) {
    if (n > 0) tiles<T, vectors, columns - 1>(n, k, alpha, packed, b, c, ldc, rows);
  }
}

template <class T>
void pack(View<T> a, Size rows, Size height, Size k, T* to) {
  for (Size p = 0; p < k; ++p, to += height) {
    const T* column = &a.at(0, p);
    if (a.down == 1) {
      Size i = 0;
      for (; i + width<T> <= rows; i += width<T>) store(to + i, load(column + i));
      if (i < rows) store(to + i, load_part(column + i, rows - i));
    } else {
      for (Size i = 0; i < rows; ++i) to[i] = column[i * a.down];
      for (Size i = rows; i < height; ++i) to[i] = T(0);
    }
  }
}

template <class T>
void multiply(Size m, Size n, Size k, T alpha, View<T> a, View<T> b, T* c, Size ldc) {
  constexpr Size most = tile_vectors * width<T>;
  alignas(64) T packed[most * depth];
  for (Size p = 0; p < k; p += depth) {
    const Size deep = smaller(depth, k - p);
    for (Size i = 0; i < m; i += most) {
      const Size rows = smaller(most, m - i), vectors = (rows + width<T> - 1) / width<T>;
      pack(a.from(i, p), rows, vectors * width<T>, deep, packed);
      const View<T> right = b.from(p, 0);
      if (vectors == 1) tiles<T, 1>(n, deep, alpha, packed, right, c + i, ldc, rows);
      if constexpr (tile_vectors > 1) {
        if (vectors == 2) tiles<T, 2>(n, deep, alpha, packed, right, c + i, ldc, rows);
        if (vectors == 3) tiles<T, 3>(n, deep, alpha, packed, right, c + i, ldc, rows);
      }
    }
  }
}

// ---- vectors ----

template <class T>
void add_scaled(Size n, T factor, const T* x, T* y) {
  Size i = 0;
  for (; i + width<T> <= n; i += width<T>) store(y + i, load(y + i) + factor * load(x + i));
  if (i < n) store_part(y + i, load_part(y + i, n - i) + factor * load_part(x + i, n - i), n - i);
}

template <class T>
T dot(Size n, const T* x, const T* y) {
  Vector<T> sums[4] = {};
  Size i = 0;
  for (; i + 4 * width<T> <= n; i += 4 * width<T>)
    for (Size v = 0; v < 4; ++v) sums[v] += load(x + i + v * width<T>) * load(y + i + v * width<T>);
  for (; i + width<T> <= n; i += width<T>) sums[0] += load(x + i) * load(y + i);
  if (i < n) sums[1] += load_part(x + i, n - i) * load_part(y + i, n - i);
  return sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// Computes y += four columns times their factors.
template <class T>
void add_columns(Size m, const T* a, Size lda, const T (&f)[4], T* y) {
  Size i = 0;
  for (; i + width<T> <= m; i += width<T>) {
    Vector<T> v = load(y + i);
    for (Size j = 0; j < 4; ++j) v += load(a + j * lda + i) * f[j];
    store(y + i, v);
  }
  if (i == m) return;
  Vector<T> v = load_part(y + i, m - i);
  for (Size j = 0; j < 4; ++j) v += load_part(a + j * lda + i, m - i) * f[j];
  store_part(y + i, v, m - i);
}

template <class T>
void dot_columns(Size m, const T* a, Size lda, const T* x, T (&to)[4]) {
  Vector<T> sums[4] = {};
  Size i = 0;
  for (; i + width<T> <= m; i += width<T>) {
    const Vector<T> v = load(x + i);
    for (Size j = 0; j < 4; ++j) sums[j] += load(a + j * lda + i) * v;
  }
  if (i < m) {
    const Vector<T> v = load_part(x + i, m - i);
    for (Size j = 0; j < 4; ++j) sums[j] += load_part(a + j * lda + i, m - i) * v;
  }
  for (Size j = 0; j < 4; ++j) to[j] = sum(sums[j]);
}

// Computes y += alpha A x, and y += alpha Aᵀ x. Vectors are contiguous.
template <class T>
void by_columns(Size m, Size n, T alpha, const T* a, Size lda, const T* x, Size incx, T* y) {
  Size j = 0;
  for (; j + 4 <= n; j += 4) {
    const T f[4] = {alpha * x[j * incx], alpha * x[(j + 1) * incx], alpha * x[(j + 2) * incx],
                    alpha * x[(j + 3) * incx]};
    add_columns(m, a + j * lda, lda, f, y);
  }
  for (; j < n; ++j) add_scaled(m, alpha * x[j * incx], a + j * lda, y);
}

template <class T>
void by_rows(Size m, Size n, T alpha, const T* a, Size lda, const T* x, T* y, Size incy) {
  Size j = 0;
  for (; j + 4 <= n; j += 4) {
    T sums[4];
    dot_columns(m, a + j * lda, lda, x, sums);
    for (Size s = 0; s < 4; ++s) y[(j + s) * incy] += alpha * sums[s];
  }
  for (; j < n; ++j) y[j * incy] += alpha * dot(m, a + j * lda, x);
}

// y += four columns times their factors, and the dot products of these columns with x, in a
// single pass.
template <class T>
void add_and_dot(Size m, const T* a, Size lda, const T (&f)[4], const T* x, T* y, T (&to)[4]) {
  Vector<T> sums[4] = {};
  Size i = 0;
  for (; i + width<T> <= m; i += width<T>) {
    const Vector<T> right = load(x + i);
    Vector<T> v = load(y + i);
    for (Size j = 0; j < 4; ++j) {
      const Vector<T> column = load(a + j * lda + i);
      v += column * f[j];
      sums[j] += column * right;
    }
    store(y + i, v);
  }
  if (i < m) {
    const Vector<T> right = load_part(x + i, m - i);
    Vector<T> v = load_part(y + i, m - i);
    for (Size j = 0; j < 4; ++j) {
      const Vector<T> column = load_part(a + j * lda + i, m - i);
      v += column * f[j];
      sums[j] += column * right;
    }
    store_part(y + i, v, m - i);
  }
  for (Size j = 0; j < 4; ++j) to[j] = sum(sums[j]);
}

// y += alpha A x for a symmetric matrix, given by its lower or upper triangle; each column is
// read once.
template <class T>
void symmetric(bool upper, Size n, T alpha, const T* a, Size lda, const T* x, T* y) {
  const auto diagonal = [&](Size j, Size w) {
    for (Size q = j; q < j + w; ++q) {
      for (Size i = j; i < j + w; ++i) {
        const Size low = i < q ? i : q, high = i < q ? q : i;
        y[q] += alpha * x[i] * (upper ? a[low + high * lda] : a[high + low * lda]);
      }
    }
  };
  Size j = 0;
  for (; j + 4 <= n; j += 4) {
    diagonal(j, 4);
    const Size from = upper ? 0 : j + 4, count = upper ? j : n - j - 4;
    const T f[4] = {alpha * x[j], alpha * x[j + 1], alpha * x[j + 2], alpha * x[j + 3]};
    T sums[4];
    add_and_dot(count, a + j * lda + from, lda, f, x + from, y + from, sums);
    for (Size s = 0; s < 4; ++s) y[j + s] += alpha * sums[s];
  }
  diagonal(j, n - j);
  for (; upper && j < n; ++j) {
    const Size count = n / 4 * 4;
    add_scaled(count, alpha * x[j], a + j * lda, y);
    y[j] += alpha * dot(count, a + j * lda, x);
  }
}

// ---- triangles ----

template <class T>
struct Target {
  T* data;
  Size down, across;
  Target from(Size i, Size j) const { return {data + i * down + j * across, down, across}; }
  View<T> view() const { return {data, down, across}; }
};

// Computes C += alpha A B. If C is row-major, the transposes are multiplied.
template <class T>
void add_product(Size m, Size n, Size k, T alpha, View<T> a, View<T> b, Target<T> c) {
  if (m == 0 || n == 0 || k == 0) return;
  if (c.down == 1) return multiply(m, n, k, alpha, a, b, c.data, c.across);
  multiply(n, m, k, alpha, View<T>{b.data, b.across, b.down}, View<T>{a.data, a.across, a.down}, c.data, c.down);
}

constexpr Size smallest = 8;  // size of the largest triangle that is not halved

template <class T>
struct Triangle {
  View<T> t;
  bool lower, unit;
  Triangle from(Size i) const { return {t.from(i, i), lower, unit}; }
};

// Solves or multiplies up to width<T> columns of B, each in a lane.
template <bool solves, class T>
void small_columns(Size n, Triangle<T> a, Target<T> b, Size lanes) {
  T rows[smallest][width<T>];
  for (Size i = 0; i < n; ++i)
    for (Size j = 0; j < width<T>; ++j) rows[i][j] = j < lanes ? b.data[i * b.down + j * b.across] : T(0);
  for (Size step = 0; step < n; ++step) {
    // in this order, the rows that row i depends on are solved already, or not yet overwritten
    const Size i = a.lower == solves ? step : n - 1 - step;
    Vector<T> row = load(rows[i]);
    if (!solves && !a.unit) row *= a.t.at(i, i);
    const Size first = a.lower ? 0 : i + 1, last = a.lower ? i : n;
    for (Size p = first; p < last; ++p) {
      if constexpr (solves)
        row -= load(rows[p]) * a.t.at(i, p);
      else
        row += load(rows[p]) * a.t.at(i, p);
    }
    if (solves && !a.unit) row /= a.t.at(i, i);
    store(rows[i], row);
  }
  for (Size i = 0; i < n; ++i)
    for (Size j = 0; j < lanes; ++j) b.data[i * b.down + j * b.across] = rows[i][j];
}

// Replaces B, with n rows, by A⁻¹ B or A B.
template <bool solves, class T>
void by_triangle(Size n, Size columns, Triangle<T> a, Target<T> b) {
  if (n <= smallest) {
    for (Size j = 0; j < columns; j += width<T>)
      small_columns<solves>(n, a, b.from(0, j), smaller(width<T>, columns - j));
    return;
  }
  const Size half = (n / 2 + smallest - 1) / smallest * smallest, rest = n - half;
  const Triangle<T> below = a.from(half);
  const Target<T> low = b.from(half, 0);
  const T sign = solves ? T(-1) : T(1);
  const auto beside = [&] {
    if (a.lower)
      add_product(rest, columns, half, sign, a.t.from(half, 0), b.view(), low);
    else
      add_product(half, columns, rest, sign, a.t.from(0, half), low.view(), b);
  };
  const bool first_half = a.lower == solves;
  if (first_half)
    by_triangle<solves>(half, columns, a, b);
  else
    by_triangle<solves>(rest, columns, below, low);
  beside();
  if (first_half)
    by_triangle<solves>(rest, columns, below, low);
  else
    by_triangle<solves>(half, columns, a, b);
}

// ---- rank updates ----

// Adds alpha A B to the lower or upper triangle of C, in strips of columns, each with a square on
// the diagonal.
template <class T>
void update_triangle(bool upper, Size n, Size k, T alpha, View<T> a, View<T> b, T* c, Size ldc) {
  constexpr Size strip = 24;
  for (Size j = 0; j < n; j += strip) {
    const Size w = smaller(strip, n - j);
    T square[strip * strip] = {};
    multiply(w, w, k, alpha, a.from(j, 0), b.from(0, j), square, strip);
    for (Size q = 0; q < w; ++q) {
      T* column = c + j + (j + q) * ldc;
      for (Size i = upper ? 0 : q; i < (upper ? q + 1 : w); ++i) column[i] += square[q * strip + i];
    }
    if (upper)
      multiply(j, w, k, alpha, a, b.from(0, j), c + j * ldc, ldc);
    else
      multiply(n - j - w, w, k, alpha, a.from(j + w, 0), b.from(0, j), c + j + w + j * ldc, ldc);
  }
}

template <class T>
View<T> view(bool transposed, const T* a, Size lda) {
  return transposed ? View<T>{a, lda, 1} : View<T>{a, 1, lda};
}

template <bool solves, class T>
void triangle(const TriangleCall& call, const T* a, Size lda, T* b, Size ldb) {
  // From the right, the transpose of the triangle acts on the transpose of B.
  const bool turned = call.transposed == call.left;
  const Triangle<T> t{view(turned, a, lda), call.upper == turned, call.unit};
  const Target<T> to = call.left ? Target<T>{b, 1, ldb} : Target<T>{b, ldb, 1};
  by_triangle<solves>(call.left ? call.m : call.n, call.left ? call.n : call.m, t, to);
}

}  // namespace

template <class T>
void Blas<T>::gemm(bool ta, bool tb, Size m, Size n, Size k, T alpha, const T* a, Size lda, const T* b, Size ldb, T* c,
                   Size ldc) {
  multiply(m, n, k, alpha, view(ta, a, lda), view(tb, b, ldb), c, ldc);
}
template <class T>
void Blas<T>::gemv(bool transposed, Size m, Size n, T alpha, const T* a, Size lda, const T* x, Size incx, T* y,
                   Size incy) {
  if (transposed)
    by_rows(m, n, alpha, a, lda, x, y, incy);
  else
    by_columns(m, n, alpha, a, lda, x, incx, y);
}
template <class T>
void Blas<T>::symv(bool upper, Size n, T alpha, const T* a, Size lda, const T* x, T* y) {
  symmetric(upper, n, alpha, a, lda, x, y);
}
template <class T>
void Blas<T>::ger(Size m, Size n, T alpha, const T* x, const T* y, Size incy, T* a, Size lda) {
  for (Size j = 0; j < n; ++j) add_scaled(m, alpha * y[j * incy], x, a + j * lda);
}
template <class T>
void Blas<T>::syrk(bool upper, bool transposed, Size n, Size k, T alpha, const T* a, Size lda, T* c, Size ldc) {
  update_triangle(upper, n, k, alpha, view(transposed, a, lda), view(!transposed, a, lda), c, ldc);
}
template <class T>
void Blas<T>::syr2k(bool upper, bool transposed, Size n, Size k, T alpha, const T* a, Size lda, const T* b, Size ldb,
                    T* c, Size ldc) {
  update_triangle(upper, n, k, alpha, view(transposed, a, lda), view(!transposed, b, ldb), c, ldc);
  update_triangle(upper, n, k, alpha, view(transposed, b, ldb), view(!transposed, a, lda), c, ldc);
}
template <class T>
void Blas<T>::trsm(const TriangleCall& call, const T* a, Size lda, T* b, Size ldb) {
  triangle<true>(call, a, lda, b, ldb);
}
template <class T>
void Blas<T>::trmm(const TriangleCall& call, const T* a, Size lda, T* b, Size ldb) {
  triangle<false>(call, a, lda, b, ldb);
}
template <class T>
void Blas<T>::axpy(Size n, T alpha, const T* x, T* y) {
  add_scaled(n, alpha, x, y);
}
template <class T>
T Blas<T>::dot(Size n, const T* x, const T* y) {
  return RML_BLAS_LEVEL::dot(n, x, y);
}
template <class T>
void Blas<T>::rot(Size n, T* x, T* y, T c, T s) {
  Size i = 0;
  for (; i + width<T> <= n; i += width<T>) {
    const Vector<T> u = load(x + i), v = load(y + i);
    store(x + i, c * u + s * v);
    store(y + i, c * v - s * u);
  }
  if (i == n) return;
  const Vector<T> u = load_part(x + i, n - i), v = load_part(y + i, n - i);
  store_part(x + i, c * u + s * v, n - i);
  store_part(y + i, c * v - s * u, n - i);
}

template struct Blas<float>;
template struct Blas<double>;

}  // namespace rml::lapack::RML_BLAS_LEVEL
