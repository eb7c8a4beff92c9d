// Sorting, searching and running sums along an axis.
//
// Sorts order the positions, first by value and then by position. This is a total order, so
// std::sort, which allocates nothing, gives the result of a stable sort.
#include "runtime/kernels/ordering.h"

#include <algorithm>
#include <numeric>

#include "runtime/kernels/elements.h"

using namespace rml::kernels;

namespace {

// Fills `order` with the positions of the elements x[0], x[stride], … in sorted order; only the
// first `wanted` of them are sorted.
template <class T>
void sorted_positions(const T* x, std::int64_t stride, std::int64_t extent, bool descending, std::int64_t wanted,
                      std::int32_t* order) {
  std::iota(order, order + extent, 0);
  const auto earlier = [&](std::int32_t i, std::int32_t j) {
    const T a = x[i * stride], b = x[j * stride];
    if (descending ? before(b, a) : before(a, b)) return true;
    return !(descending ? before(a, b) : before(b, a)) && i < j;
  };
  if (wanted < extent) {
    if (wanted == 0) return;
    std::nth_element(order, order + wanted - 1, order + extent, earlier);
  }
  std::sort(order, order + wanted, earlier);
}

// Calls write(start of the line in the result, start in the operand, order) for each line of the
// operand; lines of the result have `wanted` elements.
template <class Out, class T, class F>
void each_line(rml_kernel_call* call, const rml_attribute& axis, bool descending, std::int64_t wanted, F&& write) {
  const Lines lines(call->operands[0], axis);
  auto* order = static_cast<std::int32_t*>(call->scratch);
  if (wanted < 0) wanted = lines.extent;
  for (std::int64_t b = 0; b < lines.before; ++b) {
    for (std::int64_t a = 0; a < lines.after; ++a) {
      const T* x = static_cast<const T*>(call->operands[0].data) + b * lines.extent * lines.after + a;
      Out* y = static_cast<Out*>(call->result->data) + b * wanted * lines.after + a;
      sorted_positions(x, lines.after, lines.extent, descending, wanted, order);
      for (std::int64_t k = 0; k < wanted; ++k) write(y[k * lines.after], x, lines.after, order[k]);
    }
  }
}

std::int32_t positions(rml_kernel_call* call, const rml_attribute& axis, bool descending, std::int64_t wanted) {
  return with_type(call->operands[0].dtype, [&]<class T>(T) -> std::int32_t {
    each_line<std::int32_t, T>(call, axis, descending, wanted,
                               [](std::int32_t& y, const T*, std::int64_t, std::int32_t at) { y = at; });
    return RML_OK;
  });
}

// y[k] is y[k - 1] combined with x[k], or with x[k - 1] if exclusive, along each line; from its
// end if reversed.
template <class T, class F>
void accumulate(rml_kernel_call* call, T start, F&& combine) {
  const Lines lines(call->operands[0], call->attributes[0]);
  const bool exclusive = call->attributes[1].integers[0] != 0, reverse = call->attributes[2].integers[0] != 0;
  const std::int64_t step = reverse ? -lines.after : lines.after;
  for (std::int64_t b = 0; b < lines.before; ++b) {
    for (std::int64_t a = 0; a < lines.after && lines.extent > 0; ++a) {
      std::int64_t at = b * lines.extent * lines.after + a + (reverse ? (lines.extent - 1) * lines.after : 0);
      const T* x = static_cast<const T*>(call->operands[0].data);
      T* y = static_cast<T*>(call->result->data);
      T so_far = start;
      for (std::int64_t k = 0; k < lines.extent; ++k, at += step) {
        const T next = k == 0 ? x[at] : combine(so_far, x[at]);
        y[at] = exclusive ? so_far : next;
        so_far = next;
      }
    }
  }
}

}  // namespace

int32_t rml_kernel_argsort(rml_kernel_call* call) {
  return positions(call, call->attributes[0], call->attributes[1].integers[0] != 0, -1);
}

int32_t rml_kernel_argtopk(rml_kernel_call* call) {
  const rml_attribute* a = call->attributes;
  return positions(call, a[1], a[2].integers[0] != 0, a[0].integers[0]);
}

int32_t rml_kernel_sort(rml_kernel_call* call) {
  return with_type(call->operands[0].dtype, [&]<class T>(T) -> std::int32_t {
    each_line<T, T>(call, call->attributes[0], call->attributes[1].integers[0] != 0, -1,
                    [](T& y, const T* x, std::int64_t stride, std::int32_t at) { y = x[at * stride]; });
    return RML_OK;
  });
}

int32_t rml_kernel_searchsorted(rml_kernel_call* call) {
  const rml_array *sorted = call->operands, *values = sorted + 1;
  const bool right = call->attributes[0].integers[0] != 0;
  return with_type(sorted->dtype, [&]<class T>(T) -> std::int32_t {
    const T *a = static_cast<const T*>(sorted->data), *v = static_cast<const T*>(values->data);
    auto* y = static_cast<std::int32_t*>(call->result->data);
    // A short vector is compared element by element, as in the code that the compiler writes.
    constexpr std::int64_t longest_compared = 16;
    for (std::int64_t k = 0, n = count(*values); k < n; ++k) {
      const T* end = a + sorted->extents[0];
      if (sorted->extents[0] <= longest_compared) {
        const auto counts = [&](T x) { return right ? !before(v[k], x) : before(x, v[k]); };
        y[k] = static_cast<std::int32_t>(std::count_if(a, end, counts));
        continue;
      }
      const T* at = right ? std::upper_bound(a, end, v[k], before<T>) : std::lower_bound(a, end, v[k], before<T>);
      y[k] = static_cast<std::int32_t>(at - a);
    }
    return RML_OK;
  });
}

int32_t rml_kernel_cumsum(rml_kernel_call* call) {
  return with_type(call->result->dtype, [&]<class T>(T) -> std::int32_t {
    accumulate(call, T(0), [](T a, T b) { return wrapping_add(a, b); });
    return RML_OK;
  });
}

int32_t rml_kernel_cumprod(rml_kernel_call* call) {
  return with_type(call->result->dtype, [&]<class T>(T) -> std::int32_t {
    accumulate(call, T(1), [](T a, T b) { return wrapping_multiply(a, b); });
    return RML_OK;
  });
}

/* Along each line: y[0] = 0, and y[k] = x[k - 1] + w[k - 1] y[k - 1]. */
int32_t rml_kernel_weighted_cumsum(rml_kernel_call* call) {
  return with_float_type(call->result->dtype, [&]<class T>(T) -> std::int32_t {
    const Lines lines(call->operands[0], call->attributes[0]);
    const bool reverse = call->attributes[1].integers[0] != 0;
    const std::int64_t step = reverse ? -lines.after : lines.after, n = lines.extent;
    const T *x = static_cast<const T*>(call->operands[0].data), *w = static_cast<const T*>(call->operands[1].data);
    T* y = static_cast<T*>(call->result->data);
    for (std::int64_t b = 0; b < lines.before; ++b) {
      for (std::int64_t a = 0; a < lines.after; ++a) {
        std::int64_t at = b * n * lines.after + a + (reverse ? (n - 1) * lines.after : 0);
        T so_far = 0;
        for (std::int64_t k = 0; k < n; ++k, at += step) {
          y[at] = so_far;
          so_far = x[at] + w[at] * so_far;
        }
      }
    }
    return RML_OK;
  });
}
