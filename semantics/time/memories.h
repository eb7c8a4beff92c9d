// What a memory keeps: where its next value is the one that it has, nothing is stored.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "semantics/core/dependence.h"

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

// Names of what is kept are told apart by numbers, but for those that are taken.
class UniqueNames {
 public:
  explicit UniqueNames(std::set<std::string> taken) : taken_(std::move(taken)) {}
  void make_unique(std::string& name);

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> count_;
};

// What a fby's memory is called: the user's name where there is one.
std::string memory_name(const Core&, ValueId fby);
// What the program keeps: of every fby whose value is not the same at all cycles but the first, told apart. Not of
// those at which only the ends of segments look: they are of the schedule, and say what is open, which is nothing in a
// state.
std::map<ValueId, std::string> memory_names(const Core&);

}  // namespace rml
