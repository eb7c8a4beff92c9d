// Stores the instances of a run with keys: one state in which cycles are computed, and one record
// per key.
//
// Problem: a state holds memories, but also space that is unused between two cycles. The states
// of a million keys should only take a million times the memories. Method: there is one state, at
// one address. When the key changes, the memories are copied from the state to the record of the
// old key, and from the record of the new key into the state. Of rings and segments only the
// heads are copied; their blocks stay where they are. Shared parameters are not copied.
//
// The program uses the cells that may be outside the state (rml_program::apart) directly in the
// record, which never moves. A cycle then touches only the part of a large state that it needs.
// For code that finds memories by their offset in the state, these cells are copied into the
// state (`gather`).
//
// Records are stored in blocks of one size, which never move. The memory counts against the
// ceiling of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/state_parts.h"
#include "runtime/keys/keys.h"

namespace rml::rt {

class KeyStates {
 public:
  // Allocates the states. `seed` is that of the run. Throws Failure if not even one state fits into
  // memory.
  KeyStates(const rml_program& program, const Keys& keys, Memory& memory, std::uint64_t seed, std::int64_t horizon);
  ~KeyStates();
  KeyStates(const KeyStates&) = delete;
  KeyStates& operator=(const KeyStates&) = delete;

  // From now on, new instances start with the first values that `give` gives to the parameters.
  void begin_with(const std::function<void(void* state)>& give);
  // Parameters whose path matches one of the patterns exist only once, for all keys. Call it
  // before the first key, for a program whose rows do not wait.
  void share(const std::vector<std::string>& patterns);

  // Makes this key the current one; its state is in block(). A key equal to size() gets a new
  // state. Throws Failure if there is no memory for it.
  rml_header& enter(std::uint32_t key) {
    if (key != current_) change_to(key);
    return header();
  }
  // As `enter`, and copies all memories into the state, where they stay until another key is
  // entered.
  rml_header& gather(std::uint32_t key);
  // Prefetches the record of a key that will be entered soon.
  void expect(std::uint32_t key) const {
    if (key >= size_) return;
    const char* const at = record(key);
    for (std::uint64_t line = 0; line < near_bytes_; line += 64) __builtin_prefetch(at + line, 1);
  }
  // The address of a cell of the current key.
  const char* memory(const rml_memory& m) const {
    if (m.kind == RML_WINDOW) return window_at(block_, m);
    const std::uint64_t place = m.offset - RML_CELLS_AT;
    return place < program_.apart ? static_cast<const char*>(header().cells) + place : &at<char>(m.offset);
  }
  // True if the record of a key consists only of its seed, its number of cycles and its cells, in
  // this order. Such cells are computed in the record (rml_program::together), while there is no
  // current key.
  bool lie_together() const { return in_place_ && parts_.empty(); }
  void leave();
  char* cells(std::uint32_t key) const { return record(key) + cells_at_; }
  // True if the key exists and has read the first values of all its parameters.
  bool has_begun(std::uint32_t key) const;
  // Call it after a saved state was put into the state of the current key. A shared parameter
  // gets the value that it has for the first key. The values given to this key also become those
  // of new keys, for parameters that have none yet.
  void restored();
  // Calls `take` for each parameter with a first value given to new instances, with one of its
  // rows and the elements.
  void each_given(const std::function<void(const rml_parameter&, const char* elements)>& take) const;
  std::uint32_t size() const { return size_; }
  void* block() const { return block_; }
  rml_header& header() const { return *static_cast<rml_header*>(block_); }
  // True if rows can wait for later rows of their key.
  bool may_wait() const { return may_wait_; }
  // Size of the record of one key.
  std::uint64_t record_bytes() const { return record_bytes_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Part {
    std::uint64_t offset, bytes;
    bool window;  // a window: its elements are stored twice in the state, once in the record
  };
  struct Shared {
    std::uint64_t offset, bytes;       // offset of the cell in a record, and its size
    std::vector<std::uint64_t> slots;  // offsets in the state of the pointers to the parameter's first value
    std::vector<std::uint64_t> value;  // current value of the shared parameter
    bool known = false;                // true after an instance has set the value
  };

  void find_parts();
  void add_part(Part part);
  void change_to(std::uint32_t key);
  void make_room();
  void begin_new(std::uint64_t seed, char* cells);
  void store(char* record);
  void load(char* record);
  void take_shared();
  void put_shared();
  bool is_shared(std::uint64_t offset) const;
  char* record(std::uint32_t key) const {
    const std::uint32_t in_block = key & ((std::uint32_t{1} << block_bits_) - 1);
    return blocks_[key >> block_bits_] + in_block * record_bytes_;
  }
  std::uint64_t bytes_of_block() const { return record_bytes_ << block_bits_; }
  char* own_cells() const { return &at<char>(RML_CELLS_AT); }
  template <class T>
  T& at(std::uint64_t offset) const {
    return *reinterpret_cast<T*>(static_cast<char*>(block_) + offset);
  }

  const rml_program& program_;
  const Keys& keys_;
  Memory& memory_;
  const std::uint64_t seed_;
  const std::int64_t horizon_;
  const bool may_wait_;
  std::uint64_t state_bytes_ = 0;
  bool in_place_;  // cells that may be outside the state are used in the record
  void* block_ = nullptr;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> slots_;
  std::vector<void*> given_;  // one per slot: its pointer in a new instance
  std::vector<Shared> shared_;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t near_bytes_ = 0;  // bytes of a record to prefetch; hardware prefetches the rest
  // Offsets in a record, which holds the parts, a byte for each slot, seed and counters, and the
  // cells.
  std::uint64_t slots_at_ = 0, counters_at_ = 0, cells_at_ = 0;
  std::uint32_t block_bits_ = 0;  // log2 of the number of records in a block
  std::vector<char*> blocks_;
  std::uint32_t size_ = 0;
  std::uint32_t current_ = none;
};

}  // namespace rml::rt
