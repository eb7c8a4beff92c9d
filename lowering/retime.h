// Retiming as a rewriting of the core: lookahead becomes delay.
//
// In a component that looks ahead a bounded number of instants (semantics/offsets.h), a
// value v of offset r is computed r steps late. The rewriting makes this explicit: what was
// computed at instant n is computed at step n + r from delayed operands, on a clock that
// begins r steps late, and `post` disappears from the component. Outside, v is recovered as
// post … post v', which looks ahead only acyclically and costs a queue. Both programs
// compute the same streams.
//
//   k = 0 fby (k + d);  d = (post k') when …     ⟹   d computed one step late, fby in between
#pragma once

#include "semantics/core.h"

namespace rml {

Core retime(Core);

}  // namespace rml
