// The sums over steps in a core: the instances of nodes of the library `steps`.
//
// An instance is recognised by its node, and its inputs and outputs by their names, which are the interface of the
// library. A value between them is found by the form of the output's equation.
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
  // The value of an input or output of the instance's node; invalid if the node has none of this name.
  ValueId port(InstanceId i, const std::string& name) const;

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
  std::map<std::string, ValueId> named_;  // the named values of the library's instances, by path
  std::set<ValueId> step_ends_, ranks_;
};

}  // namespace rml
