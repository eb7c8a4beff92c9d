// How memories change, and the names of memories.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "semantics/core/dependence.h"

namespace rml {

// True if v is `memory` (a fby or post), or a sampling of it.
bool is_kept(const Core&, ValueId v, ValueId memory);

// The condition under which the next value of `memory` differs from its current value, as
// literals with the outermost first, and the next value there. `next` is invalid if the memory
// never changes.
//
//   p = fby e q;  q = merge c x (p when not c)        where c holds: x
struct Change {
  std::vector<Literal> where;
  ValueId next;
};
Change what_changes(const Core&, ValueId memory, ValueId next);

// Makes names of stored values unique by numbers. The names given as taken are never assigned.
class UniqueNames {
 public:
  explicit UniqueNames(std::set<std::string> taken) : taken_(std::move(taken)) {}
  void make_unique(std::string& name);

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> count_;
};

// The name of a fby's memory: the user's name if there is one.
std::string memory_name(const Core&, ValueId fby);
// Unique names for the stored memories: each fby, unless its value is constant after the first
// cycle. Memories that only the ends of segments read are left out: they belong to the schedule
// and record which posts are open, and none is open in a saved state.
std::map<ValueId, std::string> memory_names(const Core&);

}  // namespace rml
