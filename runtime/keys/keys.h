// Maps the keys of a run, which are texts or values of a scalar type, to numbers from 0. For
// threads see key_table.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/key_table.h"

namespace rml::rt {

class Keys {
 public:
  // Creates an empty set of keys. `dtype` is the type of keys that are values; none: keys are
  // texts.
  explicit Keys(Memory& memory, std::optional<std::uint8_t> dtype = {});

  std::uint32_t size() const { return table_.size(); }
  // The number of the key with this text; none if the text is not a value of the type.
  std::optional<std::uint32_t> number(std::string_view text);
  // The number of the key with the value at this address.
  std::uint32_t number_of(const void* value) { return table_.number(word_of(value)); }
  // As number_of, for `count` adjacent values.
  void numbers_of(const void* values, std::uint32_t count, std::uint32_t* to);
  std::string text(std::uint32_t number) const;
  // Stores the value of a key at an address.
  void put(std::uint32_t number, void* to) const;
  // The seed of the instance of a key, from its text and the seed of the run.
  std::uint64_t seed(std::uint32_t number, std::uint64_t of_run) const { return hash_of_key(text(number), of_run); }
  KeyTable& texts() { return table_; }

 private:
  std::uint64_t word_of(const void* value) const;

  KeyTable table_;
  const std::optional<std::uint8_t> dtype_;
  const std::uint64_t value_bytes_;
};

}  // namespace rml::rt
