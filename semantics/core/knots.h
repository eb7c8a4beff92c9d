// Finds closed paths of total weight 0: a value that may need itself at the same instant.
//
// `post` and `fby` cancel: x = post (0 fby x). Whether a run takes such a path depends on the
// conditions along it. Conditions derived from one stream (delayed, looked ahead or negated)
// cannot exclude each other by any promise about the inputs. Conditions of different streams can.
#pragma once

#include "semantics/core/components.h"

namespace rml {

// True if the component has a closed path of total weight 0 whose conditions all derive from one
// stream, or that has no conditions.
bool meets_itself_by_one_stream(const DependenceGraph&, const Component&);

}  // namespace rml
