// What is known of subjects at instants: a cell for each, in one window of instants per subject.
//
// A subject is whatever can be asked for at an instant. Its window is a ring that grows at either end, so that it is
// as long as what may still be asked for and no longer, whatever others wait for. Elements of up to eight bytes lie in
// the cell itself; larger ones in blocks that cells share, since most of what control does is to hand on a value.
// Blocks that are no longer in use are taken again: where windows stay as they are, nothing is allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt::demand {

using Subject = std::uint32_t;

struct Place {
  std::uint64_t subject : 24;
  std::uint64_t cycle : 40;
  std::int64_t instant() const { return static_cast<std::int64_t>(cycle); }
};
inline Place place_of(Subject s, std::int64_t cycle) { return {s, static_cast<std::uint64_t>(cycle)}; }

enum class Status : std::uint8_t {
  unknown,  // not requested yet, or it can be tried again
  blocked,  // it needs what is at `waits_for`
  never,    // it needs itself, or has failed
  absent,
  small,      // the elements are here
  own,        // … in a block
  elsewhere,  // … in memory that stays
};

struct Cell {
  union {
    Place waits_for;
    std::uint64_t bits;
    void* block;  // its elements
    const void* memory;
  };
  Status status = Status::unknown;
  bool busy = false;  // it is being evaluated
  bool marked = false;

  Cell() : bits(0) {}
  bool determined() const { return status >= Status::absent; }
  bool present() const { return status > Status::absent; }
  const void* data() const {
    return status == Status::small ? static_cast<const void*>(&bits) : status == Status::own ? block : memory;
  }
};

// Thrown where the host refuses memory.
struct Refused {
  std::uint64_t bytes;
};

class Cells {
 public:
  // By subject, the size of its elements.
  Cells(rml_header& host, std::vector<std::uint64_t> bytes);
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  ~Cells();

  // The cell, made where it is not there yet. It stays where it is until another one of its subject is made.
  Cell& at(Subject subject, std::int64_t cycle) {
    Window& w = windows_[subject];
    if (cycle < w.low || cycle >= w.high) extend(subject, cycle);
    return w.cells[static_cast<std::uint64_t>(cycle) & w.mask];
  }
  Cell& at(Place p) { return at(static_cast<Subject>(p.subject), p.instant()); }

  // Room for the elements of a cell that has none.
  void* make(Subject subject, Cell& cell);
  // The same elements as those of another one of their size.
  void share(Subject subject, Cell& to, const Cell& from);
  void refer(Subject subject, Cell& to, const void* memory);
  void drop(Cell&);

  // Null: it has not been made.
  Cell* find(Subject subject, std::int64_t cycle) {
    Window& w = windows_[subject];
    return cycle < w.low || cycle >= w.high ? nullptr : &w.cells[static_cast<std::uint64_t>(cycle) & w.mask];
  }

  // Drops what is not marked, and the marks. A cell that waits for one that is dropped can be tried again; what is to
  // come after `now` is not dropped. From then on no value older than `floor` is requested.
  void sweep(std::int64_t now, std::int64_t floor);

  std::uint64_t count() const { return count_; }    // of cells
  std::uint64_t bytes() const { return bytes_; }    // that the host has given
  std::uint64_t in_use() const { return in_use_; }  // in blocks

 private:
  struct Window {
    Cell* cells = nullptr;
    std::uint64_t mask = 0;
    std::int64_t low = 0, high = 0;  // instants that have cells
    std::uint64_t capacity() const { return cells == nullptr ? 0 : mask + 1; }
  };
  struct Block {
    Block* next;  // of those that are not in use
    std::uint64_t count;
    std::uint32_t pool;
  };
  struct Pool {
    std::uint64_t bytes = 0;
    Block* free = nullptr;
  };
  struct Slab {
    void* memory;
    std::uint64_t bytes;
  };
  static Block* block_of(void* elements);

  void extend(Subject subject, std::int64_t cycle);
  void reserve(Window&, std::uint64_t cells);
  void* allocate(std::uint64_t bytes);
  void add_blocks(std::uint32_t pool);

  rml_header& host_;
  const std::vector<std::uint64_t> sizes_;  // by subject
  std::vector<std::uint32_t> pool_of_;      // by subject
  std::vector<Pool> pools_;
  std::vector<Window> windows_;
  std::vector<Slab> slabs_;
  std::uint64_t count_ = 0, bytes_ = 0, in_use_ = 0;
  std::int64_t floor_ = -1;
};

}  // namespace rml::rt::demand
