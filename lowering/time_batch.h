// Products of a segment as products of larger matrices (scheduling.md section 3.4).
//
// A pass visits the instants of a segment one after the other, but what does not depend on a recurrence need
// not be computed so. Two kinds of products are taken out of the loops:
//
//   rows   y[n] = w x[n], w the same at all instants      Y = X w^T
//   sums   s[n] = a[n] b[n]^T + s[n + 1], s[first] used    S = A^T B
//
// where the rows of X, Y, A and B are the instants of the segment. A pass with such products is distributed:
// into loops of what they need, the products, and loops of what needs them.
#pragma once

#include <functional>
#include <map>

#include "lowering/schedule.h"

namespace rml {

struct BatchOperand {
  ValueId value;
  bool held = false;  // the same at all instants of a segment
  // Strides of the matrix, in elements; of an operand that is not held, of the array of all instants' elements.
  std::int64_t row, column;
};

// rows: [length * m, n] = a [length * m, inner] times b [inner, n]
// sum:  [m, n] = a [m, length * inner] times b [length * inner, n]
struct Batch {
  bool sum = false;
  std::int64_t m = 0, inner = 0, n = 0;
  BatchOperand a, b;
};

// What only the builder of the segment knows.
struct BatchQuestions {
  std::function<bool(ValueId)> held;        // the same at all instants of a segment, kept somewhere all the while
  std::function<bool(ValueId)> everywhere;  // in time: known at all instants, each has its own
  std::function<bool(ValueId)> only_first;  // a condition that holds at the first instant of a segment only
  std::function<bool(ValueId)> looked_at;   // from outside the unit
};

// Splits passes after the leading one; the products are in passes of their own, all of whose items are keys of
// the result.
std::map<ValueId, Batch> time_batch(const Core&, ClockId clock, Literal cut, std::vector<PassPlan>& passes,
                                    const BatchQuestions&);

}  // namespace rml
