// What another cycle looks at in a NODE_state, as pieces: the header's fields, where there is one, cells, and outputs
// that are kept. Of a run with keys a state is a record, in which they lie elsewhere.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// So many elements of a size that lie one behind the other in a state.
struct Piece {
  std::uint64_t offset, bytes;
  std::int64_t count;
  std::uint64_t of = offset;                             // where what it is a part of begins
  std::int64_t own = static_cast<std::int64_t>(offset);  // where it lies from what stands for a state

  std::int64_t moved() const { return own - static_cast<std::int64_t>(offset); }
  std::uint64_t end() const { return offset + bytes * static_cast<std::uint64_t>(count); }
  // Whether the other one lies right behind it, here as in a state: they are as one.
  bool goes_on_in(const Piece& other) const {
    return end() == other.offset && bytes == other.bytes && moved() == other.moved();
  }
};

// kept: outputs that are kept in the state (their numbers and places).
std::vector<Piece> pieces_of(const Emission&, const std::vector<std::pair<std::size_t, std::uint64_t>>& kept);
// What they take of a state, in whole words.
std::uint64_t bytes_of(const std::vector<Piece>&);
// Those that lie one behind the other are one.
std::vector<Piece> joined(std::vector<Piece>);

}  // namespace rml::codegen
