// Gathers and scatters by the forms of places.h, and slices whose start is computed at run time.
#include "runtime/kernels/gather.h"

#include <algorithm>
#include <cstring>

#include "runtime/kernels/places.h"

using namespace rml::kernels;

namespace {

// Calls f with an integer type of the size of the dtype, for kernels that only copy elements.
template <class F>
std::int32_t with_words(std::uint32_t dtype, F&& f) {
  switch (dtype) {
    case RML_I16:
    case RML_U16:
    case RML_F16:
    case RML_BF16:
      return f(std::uint16_t{});
    case RML_I32:
    case RML_U32:
    case RML_F32:
      return f(std::uint32_t{});
    case RML_I64:
    case RML_U64:
    case RML_F64:
      return f(std::uint64_t{});
    default:
      return f(std::uint8_t{});
  }
}

// Gathers elements. places(f) is a function of places.h, applied to operands 0 and 1.
template <class Places>
std::int32_t gather(rml_kernel_call* call, Places&& places) {
  return with_words(call->result->dtype, [&]<class T>(T) {
    const T* x = static_cast<const T*>(call->operands[0].data);
    T* y = static_cast<T*>(call->result->data);
    return places([&](std::int64_t place, std::int64_t position, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) y[position + k] = x[place + k];
    });
  });
}

enum class Reduction { none, add, multiply, minimum, maximum };

Reduction reduction_of(const rml_attribute& text) {
  switch (text.integers[0]) {
    case 'a':
      return Reduction::add;
    case 'm':
      return text.integers[1] == 'u'   ? Reduction::multiply
             : text.integers[1] == 'i' ? Reduction::minimum
                                       : Reduction::maximum;
    default:
      return Reduction::none;
  }
}

template <class T>
T reduced(Reduction reduction, T so_far, T more) {
  switch (reduction) {
    case Reduction::none:
      return more;
    case Reduction::add:
      return wrapping_add(so_far, more);
    case Reduction::multiply:
      return wrapping_multiply(so_far, more);
    case Reduction::minimum:
      return is_nan(so_far) || so_far <= more ? so_far : more;
    case Reduction::maximum:
      return is_nan(so_far) || so_far >= more ? so_far : more;
  }
  return so_far;
}

// Copies the first operand to the result, unless they are the same memory; returns the result.
template <class T>
T* copied(rml_kernel_call* call) {
  const T* x = static_cast<const T*>(call->operands[0].data);
  T* y = static_cast<T*>(call->result->data);
  if (x != y) std::copy_n(x, count(*call->result), y);
  return y;
}

// Scatters elements. The operands are x, indices and updates; places(f) is as for gather.
template <class Places>
std::int32_t scatter(rml_kernel_call* call, const rml_attribute& text, Places&& places) {
  const Reduction reduction = reduction_of(text);
  return with_type(call->result->dtype, [&]<class T>(T) {
    const T* updates = static_cast<const T*>(call->operands[2].data);
    T* y = copied<T>(call);
    return places([&](std::int64_t place, std::int64_t position, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) y[place + k] = reduced(reduction, y[place + k], updates[position + k]);
    });
  });
}

// The gradient of a scatter, with operands x, indices, updates, y, dy. The last attribute selects
// the operand: 0 for x and 1 for the updates. Of several updates without reduction, only the last
// one counts. The gradient of a minimum or maximum is shared by the values equal to it; in a
// product, the derivative of a factor is the product of all others.
template <class T>
class ScatterGradient {
 public:
  ScatterGradient(rml_kernel_call* call, Reduction reduction)
      : x_(static_cast<const T*>(call->operands[0].data)),
        updates_(static_cast<const T*>(call->operands[2].data)),
        y_(static_cast<const T*>(call->operands[3].data)),
        dy_(static_cast<const T*>(call->operands[4].data)),
        out_(static_cast<T*>(call->result->data)),
        n_(count(call->operands[0])),
        product_(static_cast<double*>(call->scratch)),
        number_(reinterpret_cast<std::int64_t*>(product_ + n_)),
        reduction_(reduction),
        extreme_(reduction == Reduction::minimum || reduction == Reduction::maximum) {}

  template <class Places>
  std::int32_t operator()(bool of_updates, Places&& places) {
    for (std::int64_t t = 0; t < n_; ++t) begin(t);
    const std::int32_t fault = places([&](std::int64_t place, std::int64_t position, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) meet(place + k, position + k);
    });
    if (fault != RML_OK) return fault;
    if (!of_updates) {
      for (std::int64_t t = 0; t < n_; ++t) out_[t] = of_x(t);
      return RML_OK;
    }
    return places([&](std::int64_t place, std::int64_t position, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) out_[position + k] = of_update(place + k, position + k);
    });
  }

 private:
  // number_: by reduction, the last update at the place or -1, the number of values equal to y,
  // or the number of factors that are 0. product_: the product of the factors that are not 0.
  void begin(std::int64_t t) {
    number_[t] = reduction_ == Reduction::none ? -1 : extreme_ ? x_[t] == y_[t] : x_[t] == 0;
    product_[t] = x_[t] == 0 ? 1 : static_cast<double>(x_[t]);
  }
  void meet(std::int64_t t, std::int64_t k) {
    const T u = updates_[k];
    if (reduction_ == Reduction::none)
      number_[t] = k;
    else
      number_[t] += extreme_ ? u == y_[t] : u == 0;
    if (u != 0) product_[t] *= static_cast<double>(u);
  }
  T share(std::int64_t t, T value) const { return value == y_[t] ? dy_[t] / static_cast<T>(number_[t]) : T(0); }
  T others(std::int64_t t, T value) const {
    if (value != 0) return number_[t] == 0 ? dy_[t] * static_cast<T>(product_[t] / static_cast<double>(value)) : T(0);
    return number_[t] == 1 ? dy_[t] * static_cast<T>(product_[t]) : T(0);
  }
  T of_x(std::int64_t t) const {
    if (reduction_ == Reduction::none) return number_[t] < 0 ? dy_[t] : T(0);
    if (reduction_ == Reduction::add) return dy_[t];
    return extreme_ ? share(t, x_[t]) : others(t, x_[t]);
  }
  T of_update(std::int64_t t, std::int64_t k) const {
    if (reduction_ == Reduction::none) return number_[t] == k ? dy_[t] : T(0);
    if (reduction_ == Reduction::add) return dy_[t];
    return extreme_ ? share(t, updates_[k]) : others(t, updates_[k]);
  }

  const T *x_, *updates_, *y_, *dy_;
  T* out_;
  std::int64_t n_;
  double* product_;
  std::int64_t* number_;
  Reduction reduction_;
  bool extreme_;
};

template <class Places>
std::int32_t scatter_gradient(rml_kernel_call* call, Places&& places) {
  return with_float_type(call->result->dtype, [&]<class T>(T) {
    ScatterGradient<T> gradient(call, reduction_of(call->attributes[1]));
    return gradient(call->attributes[2].integers[0] == 1, places);
  });
}

// Copies between a part and its place in `whole`, which begins at the indices. Returns a fault if
// the part does not fit.
template <class Copy>
std::int32_t dynamic_part(rml_kernel_call* call, const rml_array& whole, const rml_array& part, const rml_array& starts,
                          Copy&& copy) {
  constexpr std::uint32_t max_rank = 8;
  std::int64_t offset = 0, stride[max_rank], total = 1;
  for (std::uint32_t k = whole.rank; k-- > 0;) {
    stride[k] = total;
    total *= whole.extents[k];
  }
  for (std::int64_t k = 0; k < starts.extents[0]; ++k) {
    const std::int64_t at = with_index_type(
        starts.dtype, [&]<class I>(I) { return static_cast<std::int64_t>(static_cast<const I*>(starts.data)[k]); });
    const std::int64_t bound = whole.extents[k] - part.extents[k] + 1;
    if (at < 0 || at >= bound) {
      call->value = at;
      call->bound = bound;
      return RML_FAULT_INDEX;
    }
    offset += at * stride[k];
  }
  const std::int64_t all = count(part);
  if (all == 0) return RML_OK;
  const std::int64_t line = part.rank == 0 ? 1 : part.extents[part.rank - 1];
  std::int64_t at[max_rank] = {};
  for (std::int64_t n = 0; n < all; n += line) {
    copy(offset, n, line);
    for (std::uint32_t k = part.rank; k-- > 1;) {
      offset += stride[k - 1];
      if (++at[k - 1] < part.extents[k - 1]) break;
      offset -= stride[k - 1] * part.extents[k - 1];
      at[k - 1] = 0;
    }
  }
  return RML_OK;
}

// True if an index is negative; the call then records it.
bool has_negative(rml_kernel_call* call, const rml_array& i, std::int64_t extent) {
  return with_index_type(i.dtype, [&]<class I>(I) {
    const I* end = static_cast<const I*>(i.data) + count(i);
    const I* found =
        std::find_if(static_cast<const I*>(i.data), end, [](I index) { return static_cast<std::int64_t>(index) < 0; });
    if (found == end) return false;
    call->value = static_cast<std::int64_t>(*found);
    call->bound = extent;
    return true;
  });
}

// Adds parts to the result, at the places where take would find them. Operands: updates, indices.
template <class T>
std::int32_t add_at(rml_kernel_call* call, const rml_array* operands, const rml_attribute& axis) {
  const T* updates = static_cast<const T*>(operands[0].data);
  T* y = static_cast<T*>(call->result->data);
  return take_places(call, *call->result, operands[1], axis,
                     [&](std::int64_t place, std::int64_t position, std::int64_t n) {
                       for (std::int64_t k = 0; k < n; ++k)
                         y[place + k] = wrapping_add(y[place + k], updates[position + k]);
                     });
}

}  // namespace

int32_t rml_kernel_take(rml_kernel_call* call) {
  const rml_array *x = call->operands, *i = x + 1;
  return gather(call, [&](auto&& f) { return take_places(call, *x, *i, call->attributes[0], f); });
}

int32_t rml_kernel_sum_take(rml_kernel_call* call) {
  return with_type(call->result->dtype, [&]<class T>(T) {
    std::fill_n(static_cast<T*>(call->result->data), count(*call->result), T(0));
    return add_at<T>(call, call->operands, call->attributes[1]);
  });
}

int32_t rml_kernel_add_at(rml_kernel_call* call) {
  return with_type(call->result->dtype, [&]<class T>(T) -> std::int32_t {
    copied<T>(call);
    const rml_attribute &axis = call->attributes[0], &from_end = call->attributes[1];
    if (from_end.integers[0] == 0 && has_negative(call, call->operands[2], Lines(*call->result, axis).extent))
      return RML_FAULT_INDEX;
    return add_at<T>(call, call->operands + 1, axis);
  });
}

int32_t rml_kernel_gather_elements(rml_kernel_call* call) {
  const rml_array *x = call->operands, *i = x + 1;
  return gather(call, [&](auto&& f) { return element_places(call, *x, *i, *call->result, call->attributes[0], f); });
}

int32_t rml_kernel_take_along_axis(rml_kernel_call* call) { return rml_kernel_gather_elements(call); }

int32_t rml_kernel_gather_nd(rml_kernel_call* call) {
  const rml_array *x = call->operands, *i = x + 1;
  return gather(call, [&](auto&& f) { return tuple_places(call, *x, *i, call->attributes[0], f); });
}

int32_t rml_kernel_scatter_elements(rml_kernel_call* call) {
  const rml_array *x = call->operands, *i = x + 1;
  return scatter(call, call->attributes[1],
                 [&](auto&& f) { return element_places(call, *x, *i, *i, call->attributes[0], f); });
}

int32_t rml_kernel_scatter_nd(rml_kernel_call* call) {
  const rml_array *x = call->operands, *i = x + 1;
  return scatter(call, call->attributes[1],
                 [&](auto&& f) { return tuple_places(call, *x, *i, call->attributes[0], f); });
}

int32_t rml_kernel_scatter_elements_gradient(rml_kernel_call* call) {
  const rml_array *x = call->operands, *i = x + 1;
  return scatter_gradient(call, [&](auto&& f) { return element_places(call, *x, *i, *i, call->attributes[0], f); });
}

int32_t rml_kernel_scatter_nd_gradient(rml_kernel_call* call) {
  const rml_array *x = call->operands, *i = x + 1;
  return scatter_gradient(call, [&](auto&& f) { return tuple_places(call, *x, *i, call->attributes[0], f); });
}

int32_t rml_kernel_dynamic_slice(rml_kernel_call* call) {
  return with_words(call->result->dtype, [&]<class T>(T) {
    const T* x = static_cast<const T*>(call->operands[0].data);
    T* y = static_cast<T*>(call->result->data);
    return dynamic_part(call, call->operands[0], *call->result, call->operands[1],
                        [&](std::int64_t from, std::int64_t to, std::int64_t n) { std::copy_n(x + from, n, y + to); });
  });
}

int32_t rml_kernel_dynamic_update_slice(rml_kernel_call* call) {
  return with_words(call->result->dtype, [&]<class T>(T) {
    const T* updates = static_cast<const T*>(call->operands[1].data);
    T* y = copied<T>(call);
    return dynamic_part(
        call, *call->result, call->operands[1], call->operands[2],
        [&](std::int64_t to, std::int64_t from, std::int64_t n) { std::copy_n(updates + from, n, y + to); });
  });
}
