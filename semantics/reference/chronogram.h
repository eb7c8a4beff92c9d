// Chronograms: traces as text (docs/language.md, "Chronograms").
//
// One row per stream, one column per cycle:
//     bp | F F T T F T
//     o  | 8 8 8 5 4 4
// `.` absent, `?` undetermined, T/F Booleans, tensors [1,2;3,4] without spaces.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "semantics/values/type.h"

namespace rml {

enum class Presence : std::uint8_t { present, absent, undetermined };

struct Cell {
  Presence presence = Presence::undetermined;
  Tensor value;  // set if present
};

struct ChronogramRow {
  std::string name;
  std::vector<Cell> cells;
};

using Chronogram = std::vector<ChronogramRow>;

std::string print_chronogram(const Chronogram&);

// The expected contents of a row. A row without a port is an error.
struct ChronogramPort {
  std::string name;
  DType dtype;
  Shape shape;
};
// Errors name line and column. Lines that begin with `--` are comments.
std::optional<Chronogram> read_chronogram(const std::string& text, const std::vector<ChronogramPort>& ports,
                                          std::string& error);

}  // namespace rml
