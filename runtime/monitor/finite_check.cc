// A float is not finite if all bits of its exponent are set; it is NaN if bits of its mantissa
// are set as well.
#include "runtime/monitor/finite_check.h"

#include <algorithm>
#include <cstring>

namespace rml::rt {
namespace {

struct Found {
  bool nan = false, infinite = false;
};

template <class Bits>
Found look(const void* data, std::uint64_t count, Bits exponent) {
  const char* at = static_cast<const char*>(data);
  if (at == nullptr) return {};
  Bits nan = 0, infinite = 0;
  for (std::uint64_t k = 0; k < count; ++k, at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    bits = static_cast<Bits>(bits << 1);  // drops the sign, so that both infinities are equal
    const auto all = static_cast<Bits>(exponent << 1);
    nan |= static_cast<Bits>(bits > all);
    infinite |= static_cast<Bits>(bits == all);
  }
  return {nan != 0, infinite != 0};
}

Found look(std::uint8_t dtype, const void* data, std::uint64_t count) {
  if (dtype == RML_F16) return look<std::uint16_t>(data, count, 0x7c00u);
  if (dtype == RML_BF16) return look<std::uint16_t>(data, count, 0x7f80u);
  if (dtype == RML_F32) return look<std::uint32_t>(data, count, 0x7f800000u);
  return look<std::uint64_t>(data, count, 0x7ff0000000000000u);
}

}  // namespace

const void* FiniteCheck::data(const rml_watch& watch, const void* state) const {
  if (watch.output != UINT32_MAX) return outputs_.data(watch.output);
  const rml_memory& m = program_.memories[watch.memory];
  if (m.kind == RML_QUEUE) return last_element(watch.memory, state);
  const char* at = static_cast<const char*>(state) + m.offset;
  if (m.kind != RML_WINDOW) return at;
  return at + sizeof(rml_window) + reinterpret_cast<const rml_window*>(at)->at;
}

// A ring of a network. An element that all readers have passed may not have been stored. Before
// the network exists, there is no first element either.
const void* FiniteCheck::last_element(std::uint32_t memory, const void* state) const {
  const rml_memory& m = program_.memories[memory];
  const auto* at = static_cast<const char*>(state) + m.offset;
  const auto& ring = *reinterpret_cast<const rml_ring*>(at);
  const rml_queue* const end = program_.network->queues + program_.network->n_queues;
  const rml_queue* const queue =
      std::find_if(program_.network->queues, end, [&](const rml_queue& q) { return q.memory == memory; });
  if (ring.pushed == 0) return queue == end ? nullptr : queue->first;
  std::int64_t slowest = INT64_MAX;
  for (std::uint32_t r = 0; r < m.count; ++r)
    slowest = std::min(slowest, *reinterpret_cast<const std::int64_t*>(at + sizeof ring + RML_RING_LINE * r));
  if (ring.data == nullptr || queue == end || slowest >= ring.pushed) return nullptr;
  const std::uint64_t place = static_cast<std::uint64_t>(ring.pushed - 1) & (ring.capacity - 1);
  return static_cast<const char*>(ring.data) + place * queue->element_bytes;
}

void FiniteCheck::begin(const void* state) {
  infinite_.assign(program_.n_watches, false);
  for (std::uint32_t w = 0; w < program_.n_watches; ++w) {
    const rml_watch& watch = program_.watches[w];
    if (watch.memory == UINT32_MAX) continue;
    const rml_memory& m = program_.memories[watch.memory];
    infinite_[w] = look(m.dtype, data(watch, state), m.elements).infinite;
  }
}

const rml_watch* FiniteCheck::in_row() const {
  for (std::uint32_t w = 0; w < program_.n_watches; ++w) {
    const rml_watch& watch = program_.watches[w];
    if (watch.output != UINT32_MAX && !is_finite(watch.output)) return &watch;
  }
  return nullptr;
}

bool FiniteCheck::is_finite(std::uint32_t output) const {
  const rml_port& port = program_.outputs[output];
  if (!is_float(port.dtype) || !outputs_.is_present(output)) return true;
  const Found found = look(port.dtype, outputs_.data(output), port.elements);
  return !found.nan && !found.infinite;
}

const rml_watch* FiniteCheck::in_state(const void* state) const {
  for (std::uint32_t w = 0; w < program_.n_watches; ++w) {
    const rml_watch& watch = program_.watches[w];
    if (watch.memory == UINT32_MAX) continue;
    const rml_memory& m = program_.memories[watch.memory];
    const Found found = look(m.dtype, data(watch, state), m.elements);
    if (found.nan || (found.infinite && !infinite_[w])) return &watch;
  }
  return nullptr;
}

std::string FiniteCheck::text(const rml_watch& watch, std::int64_t cycle, const void* state) const {
  const bool output = watch.output != UINT32_MAX;
  const std::uint8_t dtype = output ? program_.outputs[watch.output].dtype : program_.memories[watch.memory].dtype;
  const std::uint64_t count =
      output ? program_.outputs[watch.output].elements : program_.memories[watch.memory].elements;
  const rml_site& at = watch.equation;
  const std::string where = std::string(at.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  const bool nan = look(dtype, data(watch, state), count).nan;
  return where + ": cycle " + std::to_string(cycle) + ": " + (nan ? "not a number" : "infinite") + ": " + at.message;
}

}  // namespace rml::rt
