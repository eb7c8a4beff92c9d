// Texts are stored in large blocks. A directory of fixed size points to the blocks of their
// entries. Nothing that another thread may read is ever moved.
#include "runtime/base/key_table.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "runtime/base/failure.h"

namespace rml::rt {
namespace {

constexpr std::uint64_t text_block = std::uint64_t{1} << 16;
constexpr std::uint64_t first_slots = 64;
// longer texts: a byte with this value, then a length of eight bytes
constexpr std::size_t short_text = 255;

// Mixes the word so that every bit affects every bit of the result.
std::uint64_t hash(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}
std::uint64_t hash(std::string_view text) { return hash_of_key(text, 0); }

}  // namespace

std::uint64_t hash_of_key(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return rml::rt::hash(hash + seed * 0x9e3779b97f4a7c15u);
}

void KeyTable::Free::operator()(void* block) const { std::free(block); }

KeyTable::KeyTable(Memory& memory) : memory_(memory) {
  constexpr std::uint64_t directory_entries = (std::uint64_t{1} << 32) / places_in_block;
  // Unused pages of the directory take no memory.
  places_.reset(static_cast<Place**>(std::calloc(directory_entries, sizeof(Place*))));
  if (!places_) throw std::bad_alloc();
}

KeyTable::~KeyTable() {
  for (Block& b : blocks_) give_back(b);
  give_back(index_);
}

void* KeyTable::block(std::uint64_t bytes) {
  void* const data = Memory::grow(&memory_, nullptr, 0, bytes);
  if (data == nullptr)
    throw TooManyKeys("too many keys: " + std::to_string(size_) + " keys with their states take " +
                      std::to_string(memory_.used() >> 20) + " MiB of the " + std::to_string(memory_.ceiling() >> 20) +
                      " MiB that this run may use");
  return data;
}

void KeyTable::give_back(Block& block) {
  if (block.data != nullptr) Memory::grow(&memory_, block.data, block.bytes, 0);
  block = {};
}

std::string_view KeyTable::text(std::uint32_t number) const {
  const char* at = place(number).text;
  std::uint64_t bytes = static_cast<unsigned char>(*at++);
  if (bytes == short_text) {
    std::memcpy(&bytes, at, sizeof bytes);
    at += sizeof bytes;
  }
  return {at, bytes};
}

const char* KeyTable::store(std::string_view text) {
  const bool is_short = text.size() < short_text;
  const std::uint64_t bytes = 1 + (is_short ? 0 : sizeof(std::uint64_t)) + text.size();
  if (bytes > room_bytes_) {
    const std::uint64_t all = std::max(text_block, bytes);
    blocks_.reserve(blocks_.size() + 1);
    room_ = static_cast<char*>(block(all));
    room_bytes_ = all;
    blocks_.push_back({room_, all});
  }
  char* const begin = room_;
  char* to = begin;
  *to++ = static_cast<char>(is_short ? text.size() : short_text);
  const std::uint64_t length = text.size();
  if (!is_short) {
    std::memcpy(to, &length, sizeof length);
    to += sizeof length;
  }
  std::memcpy(to, text.data(), text.size());
  room_ += bytes;
  room_bytes_ -= bytes;
  return begin;
}

template <>
std::string_view KeyTable::key(std::uint32_t number) const {
  return text(number);
}

template <>
std::uint64_t KeyTable::key(std::uint32_t number) const {
  return word(number);
}

template <class Key>
std::uint32_t* KeyTable::slot_of(const Key& key) const {
  auto* const slots = static_cast<std::uint32_t*>(index_.data);
  std::uint64_t at = hash(key);
  while (slots[at &= slots_ - 1] != 0 && this->key<Key>(slots[at] - 1) != key) ++at;
  return slots + at;
}

template <class Key>
void KeyTable::widen() {
  const std::uint64_t slots = std::max(first_slots, 2 * slots_);
  Block wider{block(slots * sizeof(std::uint32_t)), slots * sizeof(std::uint32_t)};
  give_back(index_);
  index_ = wider;
  slots_ = slots;
  for (std::uint32_t k = 0; k < size_; ++k) *slot_of(key<Key>(k)) = k + 1;
}

template <class Key>
std::uint32_t KeyTable::number_of(const Key& key) {
  if (2 * (std::uint64_t{size_} + 1) > slots_) widen<Key>();
  std::uint32_t* const slot = slot_of(key);
  if (*slot != 0) return *slot - 1;
  if (size_ == std::numeric_limits<std::uint32_t>::max())
    throw TooManyKeys("too many keys: at most " + std::to_string(size_) + " are possible");
  if (size_ / places_in_block == place_blocks_) {
    constexpr std::uint64_t bytes = places_in_block * sizeof(Place);
    blocks_.reserve(blocks_.size() + 1);
    auto* const more = static_cast<Place*>(block(bytes));
    blocks_.push_back({more, bytes});
    places_[place_blocks_++] = more;
  }
  place(size_) = make_place(key);
  *slot = size_ + 1;
  return size_++;
}

// The last key was inserted last, so no other key was placed behind it in the index, and no text is
// stored behind its own.
void KeyTable::forget_texts(std::uint32_t size) {
  while (size_ > size) {
    const std::string_view last = text(size_ - 1);
    *slot_of(last) = 0;
    const char* const begin = place(--size_).text;
    room_bytes_ += static_cast<std::uint64_t>(room_ - begin);
    room_ -= room_ - begin;
  }
}

std::uint32_t KeyTable::number(std::string_view text) { return number_of(text); }
std::uint32_t KeyTable::number(std::uint64_t word) { return number_of(word); }

void KeyTable::numbers(std::span<const std::uint64_t> words, std::uint32_t* to) {
  if (const auto* const slots = static_cast<const std::uint32_t*>(index_.data)) {
    for (const std::uint64_t word : words) __builtin_prefetch(slots + (hash(word) & (slots_ - 1)));
    for (const std::uint64_t word : words)
      if (const std::uint32_t found = slots[hash(word) & (slots_ - 1)]; found > 0)
        __builtin_prefetch(&place(found - 1));
  }
  for (const std::uint64_t word : words) *to++ = number(word);
}

}  // namespace rml::rt
