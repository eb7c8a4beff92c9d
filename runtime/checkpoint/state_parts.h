// The parts of a state, by their layout in rmlrt.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/base/rmlrt.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

struct RingBuffer {
  char* data;
  std::uint64_t capacity;
};
struct Segment {
  std::int64_t cycle, length;
  std::uint64_t capacity;
  std::int64_t start;
};
struct Block {
  char* data;
  std::uint64_t bytes;
};
// A 32-bit pointer is followed by padding, not by the next field.
static_assert(sizeof(void*) == 8, "the structs above are those of a 64-bit program");

template <class T>
T& part_at(void* state, const rml_memory& m) {
  return *reinterpret_cast<T*>(static_cast<char*>(state) + m.offset);
}
template <class T>
const T& part_at(const void* state, const rml_memory& m) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(state) + m.offset);
}

// Of a ring: k = 0, what was pushed; then the cursors. In a network each has a cache line of its own.
inline std::int64_t& count_of(const rml_program& program, void* state, const rml_memory& m, std::size_t k) {
  const std::size_t first = program.network != nullptr ? offsetof(rml_ring, pushed) : sizeof(RingBuffer);
  const std::size_t apart = program.network != nullptr ? std::size_t{RML_RING_LINE} : sizeof(std::int64_t);
  return *reinterpret_cast<std::int64_t*>(&part_at<char>(state, m) + first + k * apart);
}
inline std::int64_t count_of(const rml_program& program, const void* state, const rml_memory& m, std::size_t k) {
  return count_of(program, const_cast<void*>(state), m, k);
}

inline std::uint64_t value_bytes(const rml_memory& m) { return m.elements * dtype_bytes(m.dtype); }
// What buffers take for an element, at least 1.
inline std::uint64_t element_bytes(const rml_memory& m) { return std::max<std::uint64_t>(value_bytes(m), 1); }

inline const char* window_at(const void* state, const rml_memory& m) {
  const auto& w = part_at<rml_window>(state, m);
  return reinterpret_cast<const char*>(&w + 1) + w.at;
}

// Into a cell: its elements, which may begin anywhere.
inline void put_cell(void* state, const rml_memory& m, const char* elements) {
  const std::uint64_t bytes = value_bytes(m);
  char* to = &part_at<char>(state, m);
  if (bytes == 0) return;
  if (m.kind == RML_WINDOW) {
    part_at<rml_window>(state, m).at = 0;
    to += sizeof(rml_window);
    std::memcpy(to + bytes, elements, bytes);
  }
  std::memcpy(to, elements, bytes);
}

// What a parameter's slot points to if something was given; null: nothing, or it has been looked at.
inline const char* given_in(const void* state, const rml_parameter& p) {
  const char* const slot = static_cast<const char*>(state) + p.slot;
  const char* const given = *reinterpret_cast<const char* const*>(slot);
  return given == slot ? nullptr : given;
}
inline bool looked_at(const void* state, const rml_parameter& p) {
  return *reinterpret_cast<const char* const*>(static_cast<const char*>(state) + p.slot) == nullptr;
}
// Of the row of a memory. One look is enough: the others are under conditions that did not hold.
inline bool has_begun(const rml_program& program, const void* state, std::uint32_t memory) {
  bool is_parameter = false;
  for (std::uint32_t p = 0; p < program.n_parameters; ++p) {
    const rml_parameter& row = program.parameters[p];
    if (row.slot == UINT64_MAX || row.memory != memory) continue;
    if (looked_at(state, row)) return true;
    is_parameter = true;
  }
  return !is_parameter;
}

}  // namespace rml::rt
