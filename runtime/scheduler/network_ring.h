// The rings of a network (rml_ring in rmlrt.h), as those who run it see them: how many elements wait, whether there is
// room, and larger blocks.
//
// A ring has a limit, which bounds how many elements wait for its slowest reader, and a block, which is allocated as it
// fills up. The writer alone replaces the block: it copies what waits, publishes the new block, then writes on. A
// reader that still holds the old one finds in it, unchanged, all that was there when it looked at `pushed`; a reader
// that sees later elements sees the new block as well. Old blocks are kept until the network ends: together they are no
// larger than the last one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

class NetworkRing {
 public:
  // limit: elements that may wait, at least 1.
  NetworkRing(const rml_queue& queue, std::uint32_t readers, void* state, std::uint64_t limit);

  // Takes over what a saved state has brought, in a block of its own; or puts in the first element.
  bool adopt(rml_header& memory);
  // Gives everything back.
  void release(rml_header& memory);

  // Of the writer: whether `count` more may be written. They may also where nothing waits, however many they are, and
  // twice as many as are written at once.
  bool has_room(std::int64_t count);
  // … makes the block large enough for them. False: no memory.
  bool make_room(std::int64_t count, rml_header& memory);
  // Bytes that were refused.
  std::uint64_t refused() const { return refused_; }

  // More may wait from now on. Any thread.
  void raise_limit() { limit_.store(std::min(limit_.load() * 2, std::uint64_t{1} << 40)); }
  std::uint64_t limit() const { return limit_.load(); }
  std::uint64_t element_bytes() const { return element_bytes_; }
  std::uint64_t bytes() const { return bytes_; }
  // The reader that is furthest behind, by its number. Any thread.
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
  std::vector<Block> blocks_;  // the last one is in use
  std::uint64_t bytes_ = 0, refused_ = 0;
};

}  // namespace rml::rt
