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

#include <optional>

#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

// The pack that a product would read from if the value lay in a cell, which stands in neither; nothing: it is no
// product of a matrix.
struct PackedMatrix {
  ValueId lies;
  steps::Pack pack;
};
std::optional<PackedMatrix> packed_matrix(const steps::Program&, ValueId product);

steps::Packs find_packs(const steps::Program&, const Target&);

}  // namespace rml
