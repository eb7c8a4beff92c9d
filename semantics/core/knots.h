// Ways from a value to itself at the same instant, through others.
//
// `post` and `fby` cancel: x = post (0 fby x). Whether a run comes there depends on the conditions of the way.
// Conditions of one stream, also of other instants or negated, cannot be told apart by what the inputs promise;
// conditions of several may exclude each other.
#pragma once

#include "semantics/core/components.h"

namespace rml {

// A closed way through the component whose looks ahead and delays cancel, all of whose conditions are of one stream, or
// that has none.
bool meets_itself_by_one_stream(const DependenceGraph&, const Component&);

}  // namespace rml
