// A depth-first walk; a node found on the stack closes a cycle.
#include "semantics/crossing/instant_sets.h"

namespace rml {

using Node = Crossings::Node;
using Expression = Crossings::Expression;

InstantSets::InstantSets(const Crossings& crossings, PortSets& sets, ConditionRun& conditions)
    : crossings_(crossings),
      sets_(sets),
      conditions_(conditions),
      instant_(crossings.size()),
      found_(crossings.size()),
      place_(crossings.size()) {}

void InstantSets::begin(const std::vector<PortSet>& memories) {
  memories_ = &memories;
  ++now_;
}

Node InstantSets::operand(Frame& f) {
  const Expression& e = crossings_[f.node];
  switch (e.kind) {
    case Expression::none:
      return done;
    case Expression::all:
      return f.next < e.parts.size() ? e.parts[f.next++] : done;
    case Expression::choice:
      if (f.next++ > 0) return done;
      return e.parts[conditions_.truth(e.condition) ? 0 : 1];
    case Expression::port:
      f.set = sets_.one(e.index);
      return done;
    default: {
      const std::vector<PortId>& asked = sets_.members((*memories_)[e.index]);
      while (f.next < asked.size() && asked[f.next] < first_port)
        f.set = sets_.unite(f.set, sets_.one(asked[f.next++]));
      return f.next < asked.size() ? crossings_.through(asked[f.next++]) : done;
    }
  }
}

PortSet InstantSets::met_again(Node n) {
  ring_.clear();
  bool in_time = false;
  for (std::size_t k = place_[n] - 1; k < stack_.size(); ++k) {
    ring_.push_back(stack_[k].node);
    in_time = in_time || crossings_[stack_[k].node].kind == Expression::memory;
  }
  return sets_.one(in_time ? itself_in_time : itself_at_once);
}

PortSet InstantSets::of(Node root) {
  if (root == Crossings::none) return {};
  if (instant_[root] == now_) return found_[root];
  const auto enter = [&](Node n) {
    ++spent_;
    stack_.push_back({n, 0, {}});
    place_[n] = static_cast<std::uint32_t>(stack_.size());
  };
  enter(root);
  while (!stack_.empty()) {
    Frame& f = stack_.back();
    const Node o = operand(f);
    if (o == done) {
      instant_[f.node] = now_;
      found_[f.node] = f.set;
      place_[f.node] = 0;
      const PortSet found = f.set;
      stack_.pop_back();
      if (!stack_.empty()) stack_.back().set = sets_.unite(stack_.back().set, found);
    } else if (o == Crossings::none) {
      continue;
    } else if (instant_[o] == now_) {
      f.set = sets_.unite(f.set, found_[o]);
    } else if (place_[o] != 0) {
      f.set = sets_.unite(f.set, met_again(o));
    } else {
      enter(o);
    }
  }
  return found_[root];
}

}  // namespace rml
