// The instances of a run with keys: one state in which cycles are computed, and of each key what it has to remember.
//
// Problem: a state holds memories, and room that is dead between two cycles; a million of them should take a million
// times the memories. Method: there is one state, at one address. When another key's turn comes, what the state has to
// remember is copied to the record of the last one, and that of the next one is copied into the state: cells and the
// heads of rings and segments, whose blocks stay where they are. Parameters that are shared stay as well.
//
// Cells that need not lie in the state (rml_program::apart) are used in the record, which is never moved: of a large
// state a cycle may touch little. They are gathered in the state for code that knows memories by their places in it.
//
// Records lie in blocks of one size, which are never moved. Memory is that of the run, which refuses to pass its
// ceiling.
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
  // seed: of the run. Throws Failure where not even one state fits into memory.
  KeyStates(const rml_program& program, const Keys& keys, Memory& memory, std::uint64_t seed, std::int64_t horizon);
  ~KeyStates();
  KeyStates(const KeyStates&) = delete;
  KeyStates& operator=(const KeyStates&) = delete;

  // From now on every new instance begins with what `give` gives to the parameters of the state.
  void begin_with(const std::function<void(void* state)>& give);
  // Parameters whose path matches one of the patterns exist once. Of a program whose rows do not wait, and before the
  // first key.
  void share(const std::vector<std::string>& patterns);

  // The state is that of this key from now on: a new one where it is size(). Throws Failure where there is no memory.
  rml_header& enter(std::uint32_t key) {
    if (key != current_) change_to(key);
    return header();
  }
  // … and all memories lie in it, until another key is entered.
  rml_header& gather(std::uint32_t key);
  // Its turn comes soon.
  void expect(std::uint32_t key) const {
    if (key >= size_) return;
    const char* const at = record(key);
    for (std::uint64_t line = 0; line < near_bytes_; line += 64) __builtin_prefetch(at + line, 1);
  }
  // Where that of the current key lies, if it is a cell.
  const char* memory(const rml_memory& m) const {
    if (m.kind == RML_WINDOW) return window_at(block_, m);
    const std::uint64_t place = m.offset - RML_CELLS_AT;
    return place < program_.apart ? static_cast<const char*>(header().cells) + place : &at<char>(m.offset);
  }
  // Whether what is kept of a key are its seed, the number of its cycle and its cells, one behind the other: then they
  // are computed with where they lie (rml_program::together), while no key is the current one.
  bool lie_together() const { return in_place_ && parts_.empty(); }
  void leave();
  char* cells(std::uint32_t key) const { return record(key) + cells_at_; }
  // Whether there is such a key, and it has looked at the first values of all its parameters.
  bool has_begun(std::uint32_t key) const;
  // The state of the current key is what was put into it. A parameter that is shared has the value that it has for the
  // first key, and what nothing was given begins with what this one was given.
  void restored();
  // Of every parameter that new instances begin with what they were given: one of its rows, and the elements.
  void each_given(const std::function<void(const rml_parameter&, const char* elements)>& take) const;
  std::uint32_t size() const { return size_; }
  void* block() const { return block_; }
  rml_header& header() const { return *static_cast<rml_header*>(block_); }
  // Whether rows can wait for later ones of their key.
  bool may_wait() const { return may_wait_; }
  // Of the record of one key.
  std::uint64_t record_bytes() const { return record_bytes_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Part {
    std::uint64_t offset, bytes;
    bool window;  // the elements only, which lie twice in the state
  };
  struct Shared {
    std::uint64_t offset, bytes;       // of the cell
    std::vector<std::uint64_t> slots;  // where it is looked at
    std::vector<std::uint64_t> value;  // as it is now
    bool known = false;                // it has a value
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
  bool in_place_;  // cells that need not lie in the state are used in the record
  void* block_ = nullptr;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> slots_;
  std::vector<void*> given_;  // what each slot points to in a new instance
  std::vector<Shared> shared_;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t near_bytes_ = 0;  // of a record: further ones follow by themselves
  // In the record: parts, a byte for each slot, seed and counters, cells.
  std::uint64_t slots_at_ = 0, counters_at_ = 0, cells_at_ = 0;
  std::uint32_t block_bits_ = 0;  // so many bits of its number tell which record of a block is a key's
  std::vector<char*> blocks_;
  std::uint32_t size_ = 0;
  std::uint32_t current_ = none;
};

}  // namespace rml::rt
