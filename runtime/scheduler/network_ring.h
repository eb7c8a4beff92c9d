// Access to the rings of a network (rml_ring in rmlrt.h) for the network: the number of waiting
// elements, room, and larger blocks.
//
// A ring has a limit for the number of elements that wait for its slowest reader, and a block
// that is allocated as it fills. Only the writer replaces the block: it copies the waiting
// elements, publishes the new block, and then continues to write. A reader with the old block
// finds in it, unchanged, all elements that existed when it read `pushed`; a reader that sees
// later elements also sees the new block. Old blocks are kept until the network ends. Together
// they are at most as large as the last one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

class NetworkRing {
 public:
  // Creates a ring. `limit` is the maximum number of waiting elements, at least 1.
  NetworkRing(const rml_queue& queue, std::uint32_t readers, void* state, std::uint64_t limit);

  // Moves the elements of a restored state into a block of the ring, or puts in the first
  // element.
  bool adopt(rml_header& memory);
  // Releases all blocks.
  void release(rml_header& memory);

  // For the writer: true if `count` more elements may be written. This is also the case if the
  // ring is empty, however many there are, and up to twice the number that is written together.
  bool has_room(std::int64_t count);
  // For the writer: makes the block large enough for them. Returns false if there is no memory.
  bool make_room(std::int64_t count, rml_header& memory);
  // Size in bytes of the block that was refused.
  std::uint64_t refused() const { return refused_; }

  // Doubles the limit. Any thread may call it.
  void raise_limit() { limit_.store(std::min(limit_.load() * 2, std::uint64_t{1} << 40)); }
  std::uint64_t limit() const { return limit_.load(); }
  std::uint64_t element_bytes() const { return element_bytes_; }
  std::uint64_t bytes() const { return bytes_; }
  // The number of the slowest reader. Any thread may call it.
  std::uint32_t slowest_reader() const;
  std::int64_t waiting() const;
  bool is_empty_for(std::uint32_t reader) const;
  std::uint64_t capacity() const { return ring_.capacity; }

 private:
  std::atomic_ref<std::int64_t> cursor(std::uint32_t reader) const;
  std::int64_t slowest() const;
  void* new_block(std::uint64_t capacity, rml_header& memory);
  bool put_first(rml_header& memory);
  void copy_waiting(char* to, std::uint64_t capacity) const;

  struct Block {
    void* whole;
    std::uint64_t bytes;
  };
  rml_ring& ring_;
  const std::uint32_t readers_;
  const std::uint64_t element_bytes_;
  const void* const first_;
  std::atomic<std::uint64_t> limit_;
  std::vector<Block> blocks_;  // all blocks; the last one is in use
  std::uint64_t bytes_ = 0, refused_ = 0;
};

}  // namespace rml::rt
