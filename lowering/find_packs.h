// Which matrices are worth a second copy, in the order in which products read them.
//
// A product reads its right operand in panels of some columns, one row of the panel after the other (a left operand
// that a vector is multiplied by: transposed). A matrix that lies in a cell, and stands still for many products, is
// copied into that order once:
//
//   %5 := cell 3;  %7 := matmul %6 %5         cell 3 is written where a segment ends, or at the first cycle only
//
// The copy is made by the first product that looks at the cell after it was written.
#pragma once

#include <map>
#include <vector>

#include "lowering/steps.h"

namespace rml {

// B [inner, n], whose element (k, j) is element k * row + j * column of the cell.
struct Pack {
  CellId cell;
  std::int64_t inner = 0, n = 0, row = 0, column = 0;
  std::int64_t rows = 0;   // of the products, if few: their panels are wider; 5: more
  std::uint32_t unit = 0;  // networks: every unit has its own
  friend auto operator<=>(const Pack&, const Pack&) = default;
};

struct Packs {
  std::vector<Pack> list;
  // By product: which. The operand need not lie in the cell at every instant.
  std::map<ValueId, std::size_t> of;
};

Packs find_packs(const steps::Program&);

}  // namespace rml
