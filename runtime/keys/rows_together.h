// Computes rows of different keys together in vector lanes (rml_program::together).
//
// The available rows up to the first repeated key are independent of each other. They are
// computed in groups of as many rows as there are lanes, directly from the input batch to the
// output batch. States stay in their records.
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
  // Requires are_possible. out: describes the ports of a written row; the first one is the key.
  RowsTogether(const rml_program& program, KeyStates& states, const Row& out);

  // The smallest number of rows that can be computed together.
  std::uint32_t least() const { return lanes_; }
  // Computes rows from the first one on and returns how many were computed. keys: the keys of the
  // rows. Outputs without an address in `to` are discarded.
  std::uint32_t compute(const std::uint32_t* keys, std::uint32_t rows, const PortArrays& from, PortArrays& to);

 private:
  // Number of leading rows whose keys are known and differ from each other.
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
  // indexed by hash: keys seen in this call
  std::array<Mark, std::size_t{4} * Batch::most_rows> marks_{};
  std::uint32_t call_ = 0;
  std::array<void*, Batch::most_rows> cells_{};
};

}  // namespace rml::rt
