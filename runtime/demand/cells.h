// Stores the known values of subjects at instants: one cell for each, in one window of instants
// per subject.
//
// A subject is anything that can be requested at an instant. Its window is a ring that grows at
// either end, so its length only depends on the instants of this subject that may still be
// requested. Elements of up to eight bytes are stored in the cell itself. Larger ones are in
// blocks that cells share, because most control operators pass a value on unchanged. Unused
// blocks are reused; nothing is allocated while windows keep their sizes.
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
  unknown,  // not requested yet, or to be computed again
  blocked,  // depends on the cell at `waits_for`
  never,    // can never be known: it depends on itself, or its evaluation has failed
  absent,
  small,      // known; the elements are in this cell
  own,        // known; the elements are in a block
  elsewhere,  // known; the elements are in memory that does not change
};

struct Cell {
  union {
    Place waits_for;
    std::uint64_t bits;
    void* block;  // address of its elements
    const void* memory;
  };
  Status status = Status::unknown;
  bool busy = false;  // true while its evaluation is on the stack
  bool marked = false;

  Cell() : bits(0) {}
  bool determined() const { return status >= Status::absent; }
  bool present() const { return status > Status::absent; }
  const void* data() const {
    return status == Status::small ? static_cast<const void*>(&bits) : status == Status::own ? block : memory;
  }
};

// Thrown if the host refuses memory.
struct Refused {
  std::uint64_t bytes;
};

class Cells {
 public:
  // Creates an empty store. `bytes` are the sizes of the elements of each subject.
  Cells(rml_header& host, std::vector<std::uint64_t> bytes);
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  ~Cells();

  // The cell, created if it does not exist. Its address is valid until another cell of its
  // subject is created.
  Cell& at(Subject subject, std::int64_t cycle) {
    Window& w = windows_[subject];
    if (cycle < w.low || cycle >= w.high) extend(subject, cycle);
    return w.cells[static_cast<std::uint64_t>(cycle) & w.mask];
  }
  Cell& at(Place p) { return at(static_cast<Subject>(p.subject), p.instant()); }

  // Allocates the elements of a cell without elements.
  void* make(Subject subject, Cell& cell);
  // Lets a cell share the elements of another one of the same size.
  void share(Subject subject, Cell& to, const Cell& from);
  void refer(Subject subject, Cell& to, const void* memory);
  void drop(Cell&);

  // Null if the cell does not exist.
  Cell* find(Subject subject, std::int64_t cycle) {
    Window& w = windows_[subject];
    return cycle < w.low || cycle >= w.high ? nullptr : &w.cells[static_cast<std::uint64_t>(cycle) & w.mask];
  }

  // Drops the unmarked cells and removes the marks. A cell that waits for a dropped one can be
  // tried again; cells after `now` are kept. Afterwards no value older than `floor` is requested.
  void sweep(std::int64_t now, std::int64_t floor);

  std::uint64_t count() const { return count_; }    // number of cells
  std::uint64_t bytes() const { return bytes_; }    // memory given by the host
  std::uint64_t in_use() const { return in_use_; }  // bytes in blocks

 private:
  struct Window {
    Cell* cells = nullptr;
    std::uint64_t mask = 0;
    std::int64_t low = 0, high = 0;  // the window has cells for instants in [low, high)
    std::uint64_t capacity() const { return cells == nullptr ? 0 : mask + 1; }
  };
  struct Block {
    Block* next;  // the next one in the list of unused blocks
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
