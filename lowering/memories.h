// What a memory keeps: where its next value is the one that it has, nothing is stored.
#pragma once

#include <string>
#include <vector>

#include "semantics/dependence.h"

namespace rml {

// Whether v is `memory` (a fby or post), sampled or not.
bool is_kept(const Core&, ValueId v, ValueId memory);

// Where the value that `memory` has next differs from the one it has, outermost condition first, and what it is there;
// `next` invalid: nowhere.
//
//   p = fby e q;  q = merge c x (p when not c)        where c holds: x
struct Change {
  std::vector<Literal> where;
  ValueId next;
};
Change what_changes(const Core&, ValueId memory, ValueId next);

// What a fby's memory is called: the user's name where there is one.
std::string memory_name(const Core&, ValueId fby);

}  // namespace rml
