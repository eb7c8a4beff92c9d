// Reads a list that exists once per key from a file: one tensor holds all elements, another the
// end of each key's part.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/keys/keys.h"

namespace rml::rt {

inline constexpr const char* texts_of_keys = "keys";

inline std::string ends_of(const char* name) { return std::string("ends of ") + name; }

inline std::string_view bytes_of_numbers(const std::vector<std::int64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t)};
}

class PartsOfKeys {
 public:
  PartsOfKeys(const CheckpointIn& saved, const char* name, std::uint8_t dtype, std::uint64_t element)
      : saved_(saved), name_(name), element_(element) {
    const TensorIn* const all = saved.content().find(name);
    const TensorIn* const ends = saved.content().find(ends_of(name));
    if (all == nullptr || ends == nullptr || all->dtype != dtype || ends->dtype != RML_I64) damaged();
    all_ = all->data;
    ends_ = ends->data;
  }
  std::uint64_t count() const { return ends_.size() / sizeof(std::int64_t); }
  // Returns the part of the next key.
  std::string_view next() {
    std::int64_t end = 0;
    std::memcpy(&end, ends_.data() + sizeof end * at_++, sizeof end);
    const std::uint64_t bytes = static_cast<std::uint64_t>(end) * element_;
    if (end < 0 || static_cast<std::uint64_t>(end) > all_.size() || bytes < begin_ || bytes > all_.size()) damaged();
    const std::string_view part = all_.substr(begin_, bytes - begin_);
    begin_ = bytes;
    return part;
  }
  [[noreturn]] void damaged() const {
    throw Failure(saved_.name() + ": damaged: the tensor '" + name_ + "' of its keys is wrong");
  }

 private:
  const CheckpointIn& saved_;
  const char* const name_;
  const std::uint64_t element_;
  std::string_view all_, ends_;
  std::uint64_t at_ = 0, begin_ = 0;
};

// The number of the k-th key of a file, which must be a new key. Throws Failure.
inline std::uint32_t number_of_saved(const CheckpointIn& saved, const std::string& text, std::uint64_t k, Keys& keys) {
  const std::optional<std::uint32_t> number = keys.number(text);
  if (!number)
    throw Failure(saved.name() + ": its key '" + text + "' is not a value of the type that --key gives to keys");
  if (*number != k) throw Failure(saved.name() + ": damaged: the tensor '" + texts_of_keys + "' of its keys is wrong");
  return *number;
}

}  // namespace rml::rt
