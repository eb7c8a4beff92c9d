// Turns the products of all instants of a segment into one product of larger matrices.
//
// A sweep visits the instants of a segment one after the other, but values that do not depend on a recurrence need not
// be computed in that order. Two kinds of products are taken out of the loops:
//
//   rows   y[n] = w x[n], w the same at all instants      Y = X w^T
//   sums   s[n] = a[n] b[n]^T + s[n + 1], s[first] used    S = A^T B
//
// Here the rows of X, Y, A and B are the instants of the segment. A sweep with such products is split into loops that
// compute their operands, the products, and loops that use them. Products are in sweeps of their own, whose items are
// all in Segment::products. The leading sweep, whose instants arrive one by one, is not split.
#pragma once

#include "lowering/segment/segment_facts.h"
#include "lowering/target.h"

namespace rml {

Segment batch_in_time(const Schedule&, const Streams&, const Segment&, const Target&);
Segments batch_in_time(Segments, const Target&);

}  // namespace rml
