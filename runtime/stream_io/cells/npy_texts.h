// Arrays of texts in the .npy format, for columns that are copied and for keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/bytes/byte_source.h"
#include "runtime/stream_io/npy_array.h"

namespace rml::rt {

// A complete .npy of texts, in as many characters as the longest one needs. Bytes that are not
// UTF-8 become U+FFFD.
std::string npy_of_texts(const std::vector<std::string_view>& texts);

// Reads an array of texts, numbers or Booleans with one axis, element by element, as texts.
class NpyTexts {
 public:
  // Throws Failure if the array has another shape or type.
  explicit NpyTexts(ByteSource bytes);

  std::uint64_t rows() const { return header_.shape[0]; }
  // The text of the next element. Throws Failure if the array is truncated.
  std::string next();

 private:
  ByteSource bytes_;
  NpyHeader header_;
};

}  // namespace rml::rt
