// The parts of a NODE_state that other cycles read, as a list of pieces: fields of the header, if there is one, cells,
// and outputs that are kept. In a run with keys a state is a record of other layout, in which pieces have other places.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

// Consecutive elements of one size in a state.
struct Piece {
  std::uint64_t offset, bytes;
  std::int64_t count;
  std::uint64_t of = offset;  // offset of the cell, field or output that the piece is a part of
  std::int64_t own = static_cast<std::int64_t>(offset);  // offset from the address that is passed as the state

  std::int64_t moved() const { return own - static_cast<std::int64_t>(offset); }
  std::uint64_t end() const { return offset + bytes * static_cast<std::uint64_t>(count); }
  // True if the other piece directly follows this one, both in a state and at its own place: they can be joined.
  bool goes_on_in(const Piece& other) const {
    return end() == other.offset && bytes == other.bytes && moved() == other.moved();
  }
};

// Lists the pieces of a state. `kept` are outputs that it keeps: their numbers and offsets.
std::vector<Piece> pieces_of(const Emission&, const std::vector<std::pair<std::size_t, std::uint64_t>>& kept);
// The bytes of a state that the pieces occupy, in whole words.
std::uint64_t bytes_of(const std::vector<Piece>&);
// Joins pieces that directly follow one another.
std::vector<Piece> joined(std::vector<Piece>);

}  // namespace rml::codegen
