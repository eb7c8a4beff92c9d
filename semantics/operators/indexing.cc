// Operators that read or write elements at positions known at run time, and operators that
// reorder elements.
#include "semantics/operators/indexing.h"

#include <iterator>

namespace rml {

std::vector<OperatorInfo> indexing_operators() {
  std::vector<OperatorInfo> rows;
  for (const auto family : {rearrangement_operators, gather_operators, ordering_operators, contraction_operators}) {
    std::vector<OperatorInfo> more = family();
    rows.insert(rows.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  }
  return rows;
}

}  // namespace rml
