// The sums over steps in a core: the instances of nodes of the library `steps`.
//
// An instance is recognised by its node; its arguments and results by their names in the library.
// Before: a core as instantiated, with the instances and watches of the source.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

// An instance of a library node that the user's program calls. Values that the node does not have
// are invalid.
struct CollectiveCall {
  InstanceId instance;
  ValueId end, count, sent;
};

class Collectives {
 public:
  explicit Collectives(const Core& core);

  const std::vector<CollectiveCall>& list() const { return list_; }
  // True for an instance of the library, including instances inside other library nodes.
  bool is_inside(InstanceId i) const { return i.valid() && inside_[i.index]; }
  bool computes(ValueId v) const { return is_inside(core_[v].instance); }
  // The value of a variable of the instance; invalid if there is none.
  ValueId variable(InstanceId i, const std::string& name) const;

  // True if the Boolean can hold only in the last row of a step, and else is the same on all
  // ranks.
  bool ends_step(ValueId c) const;
  bool on_steps(ClockId clock) const;
  bool is_step_end(ValueId v) const { return step_ends_.contains(v); }
  // True if v is the number of a rank.
  bool is_rank(ValueId v) const { return ranks_.contains(v); }

 private:
  const Core& core_;
  std::vector<bool> inside_;  // one per instance: true if it belongs to the library of collectives
  std::vector<CollectiveCall> list_;
  std::map<std::string, ValueId> variables_;  // variables of the library's instances, by path
  std::set<ValueId> step_ends_, ranks_;
};

}  // namespace rml
