// Numbers the keys of a run (--key) in the order in which they are first seen. Keys are texts, or
// words of 64 bits that represent values of a type. A table has keys of one kind only.
//
// One thread at a time may request numbers, which adds keys. Any thread may read the text of a
// number that it was given, because entries never move. The memory counts against the ceiling of
// the run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/failure.h"
#include "runtime/base/memory.h"

namespace rml::rt {

// Memory does not suffice for a further key.
class TooManyKeys : public Failure {
 public:
  using Failure::Failure;
};

class KeyTable {
 public:
  explicit KeyTable(Memory& memory);
  ~KeyTable();
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  // The number of a key; a new key gets size(). Throws TooManyKeys if a further key does not fit into
  // memory.
  std::uint32_t number(std::string_view text);
  std::uint32_t number(std::uint64_t word);
  // The numbers of a few words. They are prefetched together, because they are spread over
  // memory.
  void numbers(std::span<const std::uint64_t> words, std::uint32_t* to);
  // Forgets the keys from this number on, the last of which was added last: their rows were not valid.
  void forget_texts(std::uint32_t size);
  std::string_view text(std::uint32_t number) const;
  std::uint64_t word(std::uint32_t number) const { return place(number).word; }
  // Any thread may ask.
  std::uint32_t size() const { return *static_cast<const volatile std::uint32_t*>(&size_); }

 private:
  struct Free {
    void operator()(void* block) const;
  };
  union Place {
    const char* text;  // the length of the text, followed by its bytes
    std::uint64_t word;
  };
  struct Block {
    void* data;
    std::uint64_t bytes;
  };

  void* block(std::uint64_t bytes);
  void give_back(Block& block);
  const char* store(std::string_view text);
  Place& place(std::uint32_t number) const { return places_[number / places_in_block][number % places_in_block]; }
  template <class Key>
  std::uint32_t* slot_of(const Key& key) const;
  template <class Key>
  std::uint32_t number_of(const Key& key);
  Place make_place(std::string_view text) { return {.text = store(text)}; }
  static Place make_place(std::uint64_t word) { return {.word = word}; }
  template <class Key>
  Key key(std::uint32_t number) const;
  template <class Key>
  void widen();

  static constexpr std::uint32_t places_in_block = 1u << 13;

  Memory& memory_;
  std::unique_ptr<Place*[], Free> places_;  // texts of the keys by their numbers, in blocks of equal size
  std::vector<Block> blocks_;
  char* room_ = nullptr;  // free memory for further texts
  std::uint64_t room_bytes_ = 0;
  // Hash index with open addressing. A slot holds a number plus one, or 0 if it is free. At least
  // half of the slots are free, because probing beyond the first slot reads memory that was not
  // prefetched.
  Block index_{};
  std::uint64_t slots_ = 0;  // number of slots, a power of two
  std::uint32_t size_ = 0;
  std::uint32_t place_blocks_ = 0;  // number of blocks of places
};

// A 64-bit hash of a text: FNV-1a, then a mix in which every bit affects every bit of the result.
std::uint64_t hash_of_key(std::string_view text, std::uint64_t seed);

}  // namespace rml::rt
