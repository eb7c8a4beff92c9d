// Finds matrices that are worth a second copy, stored in the order in which products read them.
//
// A product reads its right operand in panels of a few columns, row by row within a panel. (If a vector is multiplied
// by a matrix on its left, that matrix is read transposed.) A matrix that is kept in a cell and stays the same for many
// products is copied into that order once:
//
//   %5 := cell 3;  %7 := matmul %6 %5         cell 3 is written only where a segment ends, or at the first cycle
//
// The first product that reads the cell after a write makes the copy.
#pragma once

#include <optional>

#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

// The pack that a product could read, with the value that would have to be loaded from a cell (`lies`). The pack's cell
// and unit are not set. Nothing if the operator is not a product of a matrix.
struct PackedMatrix {
  ValueId lies;
  steps::Pack pack;
};
std::optional<PackedMatrix> packed_matrix(const steps::Program&, ValueId product);

steps::Packs find_packs(const steps::Program&, const Target&);

}  // namespace rml
