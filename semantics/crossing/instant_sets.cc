// A depth-first walk; a node found on the stack closes a cycle.
#include "semantics/crossing/instant_sets.h"

#include <bit>

namespace rml {

using Node = Crossings::Node;
using Expression = Crossings::Expression;

InstantSets::InstantSets(const Crossings& crossings, PortSets& sets, ConditionRun& conditions)
    : crossings_(crossings),
      sets_(sets),
      conditions_(conditions),
      instant_(crossings.size()),
      found_(crossings.size()),
      place_(crossings.size()),
      by_word_(sets.words()) {}

void InstantSets::begin(const std::vector<PortSet>& memories) {
  memories_ = &memories;
  for (auto& known : by_word_) known.clear();
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
    default:
      return recalled(f, (*memories_)[e.index]);
  }
}

Node InstantSets::recalled(Frame& f, PortSet before) {
  for (; f.next < sets_.words(); ++f.next, f.bit = 0) {
    const std::uint64_t bits = sets_.word(before, f.next);
    if (f.bit == 0 && std::popcount(bits) > PortSets::few)
      if (const auto known = by_word_[f.next].find(bits); known != by_word_[f.next].end()) {
        f.set = sets_.unite(f.set, known->second);
        continue;
      }
    while (f.bit < 64 && bits >> f.bit != 0) {
      f.bit += static_cast<std::uint32_t>(std::countr_zero(bits >> f.bit));
      const PortId p = f.next * 64 + f.bit++;
      if (p >= first_port) return crossings_.through(p);
      f.set = sets_.unite(f.set, sets_.one(p));
    }
    keep(f.next, bits);
  }
  return done;
}

// Stores the union for the ports of a word, if there are many and all are known.
void InstantSets::keep(std::uint32_t word, std::uint64_t bits) {
  if (std::popcount(bits) <= PortSets::few) return;
  PortSet all;
  for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
    const PortId p = word * 64 + static_cast<PortId>(std::countr_zero(rest));
    const Node n = p < first_port ? Crossings::none : crossings_.through(p);
    if (n != Crossings::none && instant_[n] != now_) return;
    all = sets_.unite(all, p < first_port ? sets_.one(p) : found_[n]);
  }
  by_word_[word].emplace(bits, all);
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
    stack_.push_back({n, 0, 0, {}});
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
