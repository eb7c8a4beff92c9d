// Access to the parts of a state, according to their layout in rmlrt.h.
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
// With 32-bit pointers the structs above would have padding that the program's layout does not
// have.
static_assert(sizeof(void*) == 8, "the structs above are those of a 64-bit program");

template <class T>
T& part_at(void* state, const rml_memory& m) {
  return *reinterpret_cast<T*>(static_cast<char*>(state) + m.offset);
}
template <class T>
const T& part_at(const void* state, const rml_memory& m) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(state) + m.offset);
}

// The counts of a ring: k = 0 is the number of pushed elements, the cursors follow. In a network
// each count has a cache line of its own.
inline std::int64_t& count_of(const rml_program& program, void* state, const rml_memory& m, std::size_t k) {
  const std::size_t first = program.network != nullptr ? offsetof(rml_ring, pushed) : sizeof(RingBuffer);
  const std::size_t apart = program.network != nullptr ? std::size_t{RML_RING_LINE} : sizeof(std::int64_t);
  return *reinterpret_cast<std::int64_t*>(&part_at<char>(state, m) + first + k * apart);
}
inline std::int64_t count_of(const rml_program& program, const void* state, const rml_memory& m, std::size_t k) {
  return count_of(program, const_cast<void*>(state), m, k);
}

inline std::uint64_t value_bytes(const rml_memory& m) { return m.elements * dtype_bytes(m.dtype); }
// Bytes of an element in a buffer, at least 1.
inline std::uint64_t element_bytes(const rml_memory& m) { return std::max<std::uint64_t>(value_bytes(m), 1); }

inline const char* window_at(const void* state, const rml_memory& m) {
  const auto& w = part_at<rml_window>(state, m);
  return reinterpret_cast<const char*>(&w + 1) + w.at;
}

// Copies elements, at any alignment, into a cell.
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

// The value that a parameter's slot points to, if one was given; null if none was given or the
// value has been read.
inline const char* given_in(const void* state, const rml_parameter& p) {
  const char* const slot = static_cast<const char*>(state) + p.slot;
  const char* const given = *reinterpret_cast<const char* const*>(slot);
  return given == slot ? nullptr : given;
}
inline bool looked_at(const void* state, const rml_parameter& p) {
  return *reinterpret_cast<const char* const*>(static_cast<const char*>(state) + p.slot) == nullptr;
}
// True unless the memory belongs to parameters whose first value was not read. One slot that was
// read is enough: the others are under conditions that did not hold.
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
