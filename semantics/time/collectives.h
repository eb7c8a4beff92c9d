// The sums over steps in a core: the instances of nodes of the library `steps`.
//
// They are known by the node that they were instantiated of; what they are given and what they yield, by its name in
// the library. Before: a core as it was instantiated, whose instances and watches are those of the source.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

// An instance of a node of the library that the library does not call itself. What it has no name for is invalid.
struct Collective {
  InstanceId instance;
  ValueId end, count, sent;
};

class Collectives {
 public:
  Collectives(const Program& program, const Core& core);

  const std::vector<Collective>& list() const { return list_; }
  // Whether it is one of the library's, the ones that it calls itself included.
  bool is_inside(InstanceId i) const { return i.valid() && inside_[i.index]; }
  bool computes(ValueId v) const { return is_inside(core_[v].instance); }
  // What the variable of an instance stands for; invalid: nothing.
  ValueId variable(InstanceId i, const std::string& name) const;

  // Whether a Boolean holds in the last row of a step only, and is otherwise the same on all ranks.
  bool ends_step(ValueId c) const;
  bool on_steps(ClockId clock) const;
  bool is_step_end(ValueId v) const { return step_ends_.contains(v); }
  // The number of a rank.
  bool is_rank(ValueId v) const { return ranks_.contains(v); }

 private:
  const Core& core_;
  std::vector<bool> inside_;  // by instance
  std::vector<Collective> list_;
  std::map<std::string, ValueId> variables_;  // by path: those of the library
  std::set<ValueId> step_ends_, ranks_;
};

}  // namespace rml
