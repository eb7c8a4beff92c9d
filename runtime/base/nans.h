// Replaces every NaN by the same NaN. A NaN has no meaningful sign or payload: they depend on the
// processor, and on whether rows are computed one by one or in vector lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

template <class Word>
void unify_nans(char* values, std::size_t bytes, Word infinity, Word nan) {
  for (std::size_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, values + at, sizeof word);
    word = (word & static_cast<Word>(~Word{0} >> 1)) > infinity ? nan : word;
    std::memcpy(values + at, &word, sizeof word);
  }
}

// Replaces every NaN by the same one. `values` has `bytes` bytes of elements of the type.
inline void unify_nans(std::uint8_t dtype, char* values, std::size_t bytes) {
  switch (dtype) {
    case RML_F16:
      return unify_nans<std::uint16_t>(values, bytes, 0x7C00, 0x7E00);
    case RML_BF16:
      return unify_nans<std::uint16_t>(values, bytes, 0x7F80, 0x7FC0);
    case RML_F32:
      return unify_nans<std::uint32_t>(values, bytes, 0x7F800000, 0x7FC00000);
    case RML_F64:
      return unify_nans<std::uint64_t>(values, bytes, 0x7FF0000000000000, 0x7FF8000000000000);
    default:
      return;
  }
}

}  // namespace rml::rt
