// The keys of a run as its users know them: texts, or values of a type. Threads as in key_table.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/key_table.h"

namespace rml::rt {

class Keys {
 public:
  // dtype: of keys that are values; none: they are texts.
  explicit Keys(Memory& memory, std::optional<std::uint8_t> dtype = {});

  std::uint32_t size() const { return table_.size(); }
  // None where the text is no value of the type.
  std::optional<std::uint32_t> number(std::string_view text);
  // Of a value of the type, at this address.
  std::uint32_t number_of(const void* value) { return table_.number(word_of(value)); }
  // … and so many, one behind the other.
  void numbers_of(const void* values, std::uint32_t count, std::uint32_t* to);
  std::string text(std::uint32_t number) const;
  // The value, put to an address.
  void put(std::uint32_t number, void* to) const;
  // What the instance of a key draws by.
  std::uint64_t seed(std::uint32_t number, std::uint64_t of_run) const { return hash_of_key(text(number), of_run); }
  KeyTable& texts() { return table_; }

 private:
  std::uint64_t word_of(const void* value) const;

  KeyTable table_;
  const std::optional<std::uint8_t> dtype_;
  const std::uint64_t value_bytes_;
};

}  // namespace rml::rt
