// The instances of a run with keys: one state in which cycles are computed, and of each key what it has to remember.
//
// Problem: a state holds memories, and room that is dead between two cycles; a million of them should take a million
// times the memories. Method: there is one state, at one address. When another key's turn comes, what the state has to
// remember is copied to the record of the last one, and that of the next one is copied into the state: cells and the
// heads of rings and segments, whose blocks stay where they are. Parameters that are shared stay as well.
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
  // Its turn comes soon.
  void expect(std::uint32_t key) const {
    if (key >= size_) return;
    const char* const at = record(key);
    for (std::uint64_t line = 0; line < near_bytes_; line += 64) __builtin_prefetch(at + line, 1);
  }
  // The state of the current key is what was put into it: what it was given, further instances begin with.
  void restored();
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
  void begin_new();
  void store(char* record);
  void load(const char* record);
  void take_shared();
  void put_shared();
  bool is_shared(std::uint64_t offset) const;
  char* record(std::uint32_t key) const {
    return blocks_[key / records_in_block_] + key % records_in_block_ * record_bytes_;
  }
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
  void* block_ = nullptr;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> slots_;
  std::vector<void*> given_;  // what each slot points to in a new instance
  std::vector<Shared> shared_;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t near_bytes_ = 0;  // of a record: further ones follow by themselves
  std::uint32_t records_in_block_ = 1;
  std::vector<char*> blocks_;
  std::uint32_t size_ = 0;
  std::uint32_t current_ = none;
};

}  // namespace rml::rt
