// Products of a segment as products of larger matrices.
//
// A sweep visits the instants of a segment one after the other, but what does not depend on a recurrence need
// not be computed so. Two kinds of products are taken out of the loops:
//
//   rows   y[n] = w x[n], w the same at all instants      Y = X w^T
//   sums   s[n] = a[n] b[n]^T + s[n + 1], s[first] used    S = A^T B
//
// where the rows of X, Y, A and B are the instants of the segment. A sweep with such products is distributed:
// into loops of what they need, the products, and loops of what needs them. Products are in sweeps of their own, all of
// whose items are in Segment::products. The leading sweep, whose instants come one by one, stays as it is.
#pragma once

#include "lowering/segment/segment_facts.h"
#include "lowering/target.h"

namespace rml {

Segment batch_in_time(const Schedule&, const Streams&, const Segment&, const Target&);
Segments batch_in_time(Segments, const Target&);

}  // namespace rml
