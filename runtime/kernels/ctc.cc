// The forward and backward recursions of CTC, in logarithms and in f64.
//
// The labels of a target, with a blank before, between and after them, are the S = 2 L + 1
// states. At each frame an alignment stays in its state, moves to the next state, or skips a
// blank between two different labels. alpha[t, s] is the logarithm of the probability of all
// paths that end in state s at frame t, and beta[t, s] that of all continuations from there.
// Their sum over s, at any t, is the logarithm of the total probability.
#include "runtime/kernels/ctc.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/base/rmlrt.h"

namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == impossible ? a : a + std::log1p(std::exp(b - a));
}

std::int64_t integer(const rml_array& array, std::int64_t at) {
  switch (array.dtype) {
    case RML_I8:
      return static_cast<const std::int8_t*>(array.data)[at];
    case RML_U8:
      return static_cast<const std::uint8_t*>(array.data)[at];
    case RML_I16:
      return static_cast<const std::int16_t*>(array.data)[at];
    case RML_U16:
      return static_cast<const std::uint16_t*>(array.data)[at];
    case RML_U32:
      return static_cast<const std::uint32_t*>(array.data)[at];
    case RML_I32:
      return static_cast<const std::int32_t*>(array.data)[at];
    default:
      return static_cast<const std::int64_t*>(array.data)[at];
  }
}

// One batch: operands log_probs, targets, input_lengths, target_lengths.
template <class T>
struct Batch {
  const rml_array* operands;
  std::int64_t blank;
  std::int64_t time() const { return operands[0].extents[0]; }
  std::int64_t size() const { return operands[0].extents[1]; }
  std::int64_t classes() const { return operands[0].extents[2]; }
  std::int64_t longest() const { return operands[1].extents[1]; }
};

template <class T>
struct Sequence {
  const Batch<T>& batch;
  std::int64_t n;
  std::int64_t frames = integer(batch.operands[2], n), labels = integer(batch.operands[3], n);
  std::int64_t states = 2 * labels + 1;

  std::int64_t label(std::int64_t s) const {
    return s % 2 == 0 ? batch.blank : integer(batch.operands[1], n * batch.longest() + s / 2);
  }
  bool skips(std::int64_t s) const { return s >= 2 && s % 2 == 1 && label(s) != label(s - 2); }
  double log_prob(std::int64_t t, std::int64_t s) const {
    const T* x = static_cast<const T*>(batch.operands[0].data);
    return static_cast<double>(x[(t * batch.size() + n) * batch.classes() + label(s)]);
  }

  std::int32_t check(rml_kernel_call* call) const {
    const auto within = [&](std::int64_t value, std::int64_t bound) {
      if (value >= 0 && value < bound) return true;
      call->value = value, call->bound = bound;
      return false;
    };
    if (!within(frames, batch.time() + 1) || !within(labels, batch.longest() + 1)) return RML_FAULT_INDEX;
    for (std::int64_t s = 1; s < states; s += 2) {
      if (!within(label(s), batch.classes())) return RML_FAULT_INDEX;
      if (label(s) != batch.blank) continue;
      call->value = label(s), call->bound = batch.classes();
      return RML_FAULT_INDEX;
    }
    return RML_OK;
  }

  void forward(double* alpha) const {
    for (std::int64_t t = 0; t < frames; ++t) {
      const double* before = alpha + (t - 1) * states;
      for (std::int64_t s = 0; s < states; ++s) {
        double ways = impossible;
        if (t == 0) {
          if (s <= 1) ways = 0;
        } else {
          ways = before[s];
          if (s >= 1) ways = log_add(ways, before[s - 1]);
          if (skips(s)) ways = log_add(ways, before[s - 2]);
        }
        alpha[t * states + s] = ways + log_prob(t, s);
      }
    }
  }

  // `beta` at frame t does not include the probability at frame t itself.
  void backward(double* beta) const {
    for (std::int64_t t = frames; t-- > 0;) {
      const double* after = beta + (t + 1) * states;
      for (std::int64_t s = 0; s < states; ++s) {
        double ways = impossible;
        if (t == frames - 1) {
          if (s >= states - 2) ways = 0;
        } else {
          ways = after[s] + log_prob(t + 1, s);
          if (s + 1 < states) ways = log_add(ways, after[s + 1] + log_prob(t + 1, s + 1));
          if (s + 2 < states && skips(s + 2)) ways = log_add(ways, after[s + 2] + log_prob(t + 1, s + 2));
        }
        beta[t * states + s] = ways;
      }
    }
  }

  // The logarithm of the total probability; without frames, the probability is 1 if there are no
  // labels.
  double total(const double* alpha) const {
    if (frames == 0) return labels == 0 ? 0 : impossible;
    const double* last = alpha + (frames - 1) * states;
    return states == 1 ? last[0] : log_add(last[states - 1], last[states - 2]);
  }
};

template <class T>
std::int32_t losses(rml_kernel_call* call) {
  const Batch<T> batch{call->operands, call->attributes[0].integers[0]};
  auto* alpha = static_cast<double*>(call->scratch);
  for (std::int64_t n = 0; n < batch.size(); ++n) {
    const Sequence<T> sequence{batch, n};
    if (const std::int32_t fault = sequence.check(call); fault != RML_OK) return fault;
    sequence.forward(alpha);
    static_cast<T*>(call->result->data)[n] = static_cast<T>(0 - sequence.total(alpha));
  }
  return RML_OK;
}

template <class T>
std::int32_t gradients(rml_kernel_call* call) {
  const Batch<T> batch{call->operands + 1, call->attributes[0].integers[0]};
  const auto* adjoint = static_cast<const T*>(call->operands[0].data);
  auto* out = static_cast<T*>(call->result->data);
  const std::int64_t size = batch.size(), classes = batch.classes();
  std::fill_n(out, batch.time() * size * classes, T(0));
  auto* alpha = static_cast<double*>(call->scratch);
  for (std::int64_t n = 0; n < size; ++n) {
    const Sequence<T> sequence{batch, n};
    if (const std::int32_t fault = sequence.check(call); fault != RML_OK) return fault;
    if (adjoint[n] == 0) continue;
    double* beta = alpha + batch.time() * (2 * batch.longest() + 1);
    sequence.forward(alpha);
    sequence.backward(beta);
    const double total = sequence.total(alpha);
    for (std::int64_t t = 0; t < sequence.frames; ++t) {
      T* row = out + (t * size + n) * classes;
      if (total == impossible) {
        std::fill_n(row, classes, std::numeric_limits<T>::quiet_NaN());
        continue;
      }
      for (std::int64_t s = 0; s < sequence.states; ++s) {
        const std::int64_t at = t * sequence.states + s;
        row[sequence.label(s)] -= adjoint[n] * static_cast<T>(std::exp(alpha[at] + beta[at] - total));
      }
    }
  }
  return RML_OK;
}

}  // namespace

extern "C" {

std::int64_t rml_ctc_bytes(std::int64_t time, std::int64_t longest) {
  return 2 * time * (2 * longest + 1) * static_cast<std::int64_t>(sizeof(double));
}

std::int32_t rml_ctc(rml_kernel_call* call) {
  return call->result->dtype == RML_F32 ? losses<float>(call) : losses<double>(call);
}

std::int32_t rml_ctc_gradient(rml_kernel_call* call) {
  return call->result->dtype == RML_F32 ? gradients<float>(call) : gradients<double>(call);
}

}  // extern "C"
