// Rows of different keys, which are computed in vector lanes (rml_program::together).
//
// Of the rows at hand those up to the first whose key comes a second time are independent of each other. They are
// computed in groups of so many as there are lanes, from where they were read to where they are written; states stay
// where they are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/keys/key_states.h"
#include "runtime/pipeline/batch.h"

namespace rml::rt {

class RowsTogether {
 public:
  static bool are_possible(const rml_program& program, const KeyStates& states) {
    return program.together != nullptr && states.lie_together();
  }
  // … where they are. out: shows the ports of a row that is written, of which the first is the key.
  RowsTogether(const rml_program& program, KeyStates& states, const Row& out);

  // Fewer rows are not computed so.
  std::uint32_t least() const { return lanes_; }
  // How many of the rows, whose keys these are, were computed, from the first on. What is written nowhere of `to` is
  // thrown away.
  std::uint32_t compute(const std::uint32_t* keys, std::uint32_t rows, const PortArrays& from, PortArrays& to);

 private:
  // The rows from the first on whose keys are known and differ.
  std::uint32_t independent(const std::uint32_t* keys, std::uint32_t rows);

  const rml_program& program_;
  KeyStates& states_;
  const std::uint32_t lanes_;
  const RowShape shape_;
  Batch nowhere_;
  PortArrays unwritten_;
  struct Mark {
    std::uint32_t key = 0, call = 0;
  };
  std::array<Mark, std::size_t{4} * Batch::most_rows> marks_{};  // of the keys of this call, by hash
  std::uint32_t call_ = 0;
  std::array<void*, Batch::most_rows> cells_{};
};

}  // namespace rml::rt
