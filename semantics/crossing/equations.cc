// Expressions are found again by what they are made of; a few that say the same with less are made simpler at once.
#include "semantics/crossing/equations.h"

#include <algorithm>

namespace rml {

using Node = Crossings::Node;
using Expression = Crossings::Expression;

Crossings::Crossings() : nodes_(1), through_(first_port, none) {}

Node Crossings::add(Expression e) {
  std::uint64_t hash = e.kind;
  const auto mix = [&](std::uint64_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15u + (hash >> 29); };
  mix(e.condition.code);
  mix(e.index);
  for (const Node part : e.parts) mix(part);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto at = from; at != to; ++at) {
    const Expression& known = nodes_[at->second];
    if (known.kind == e.kind && known.condition == e.condition && known.index == e.index && known.parts == e.parts)
      return at->second;
  }
  nodes_.push_back(std::move(e));
  by_hash_.emplace(hash, static_cast<Node>(nodes_.size() - 1));
  return static_cast<Node>(nodes_.size() - 1);
}

Node Crossings::all(std::vector<Node> parts) {
  std::ranges::sort(parts);
  parts.erase(std::ranges::unique(parts).begin(), parts.end());
  std::erase(parts, none);
  if (parts.empty()) return none;
  if (parts.size() == 1) return parts[0];
  return add({Expression::all, {}, 0, std::move(parts)});
}

Node Crossings::choice(Condition c, Node on_true, Node on_false) {
  if (c == Conditions::yes || on_true == on_false) return on_true;
  if (c == Conditions::no) return on_false;
  if (c.negative()) {
    c = !c;
    std::swap(on_true, on_false);
  }
  const auto chosen = [&](Node n, std::size_t branch) {
    return nodes_[n].kind == Expression::choice && nodes_[n].condition == c ? nodes_[n].parts[branch] : n;
  };
  on_true = chosen(on_true, 0);
  on_false = chosen(on_false, 1);
  if (on_true == on_false) return on_true;
  return add({Expression::choice, c, 0, {on_true, on_false}});
}

PortId Crossings::port() {
  through_.push_back(none);
  return static_cast<PortId>(through_.size() - 1);
}
Node Crossings::beyond(PortId p) { return add({Expression::port, {}, p, {}}); }

Crossings::Memory Crossings::memory() {
  kept_.push_back(none);
  return static_cast<Memory>(kept_.size() - 1);
}
Node Crossings::recall(Memory m) { return add({Expression::memory, {}, m, {}}); }

Node Crossings::later() {
  nodes_.push_back({Expression::all, {}, 0, {none}});
  return static_cast<Node>(nodes_.size() - 1);
}

namespace {

class Division {
 public:
  Division(const Crossings& from, const std::vector<Node>& roots)
      : from_(from), roots_(roots), leader_(from.size()), met_(from.size()) {
    for (Node n = 0; n < leader_.size(); ++n) leader_[n] = n;
    for (const Node root : roots) reach(root);
  }

  std::vector<CrossingPart> run() {
    std::unordered_map<Node, std::uint32_t> number;
    std::vector<CrossingPart> out;
    for (const Node root : roots_)
      if (root != Crossings::none && number.try_emplace(find(root), out.size()).second) {
        out.emplace_back();
        out.back().roots.assign(roots_.size(), Crossings::none);
        out.back().ports.assign(first_port, 0);
      }
    copies_.resize(from_.size());
    ports_.resize(from_.ports());
    memories_.resize(from_.memories());
    for (std::size_t k = 0; k < roots_.size(); ++k) {
      if (roots_[k] == Crossings::none) continue;
      CrossingPart& part = out[number.at(find(roots_[k]))];
      part.roots[k] = copy(part, roots_[k]);
    }
    return out;
  }

 private:
  Node find(Node n) {
    while (leader_[n] != n) n = leader_[n] = leader_[leader_[n]];
    return n;
  }

  template <class F>
  void for_each_link(Node n, F&& f) const {
    const Expression& e = from_[n];
    for (const Node part : e.parts) f(part);
    if (e.kind == Expression::port) f(from_.through(e.index));
    if (e.kind == Expression::memory) f(from_.kept(e.index));
  }

  void reach(Node root) {
    std::vector<Node> work{root};
    while (!work.empty()) {
      const Node n = work.back();
      work.pop_back();
      if (n == Crossings::none || met_[n]) continue;
      met_[n] = true;
      for_each_link(n, [&](Node m) {
        if (m == Crossings::none) return;
        leader_[find(m)] = find(n);
        work.push_back(m);
      });
    }
  }

  // Expressions become places first, so that those that are defined by one another can be.
  Node copy(CrossingPart& part, Node root) {
    Crossings& to = part.crossings;
    std::vector<Node> work{root};
    std::vector<Node> fresh;
    while (!work.empty()) {
      const Node n = work.back();
      work.pop_back();
      if (n == Crossings::none || copies_[n] != Crossings::none) continue;
      copies_[n] = to.later();
      fresh.push_back(n);
      for_each_link(n, [&](Node m) { work.push_back(m); });
    }
    for (const Node n : fresh) to.define(copies_[n], copied(part, n));
    return copies_[root];
  }

  Node copied(CrossingPart& part, Node n) {
    Crossings& to = part.crossings;
    const Expression& e = from_[n];
    std::vector<Node> parts;
    for (const Node p : e.parts) parts.push_back(copies_[p]);
    switch (e.kind) {
      case Expression::none:
        return Crossings::none;
      case Expression::all:
        return to.all(std::move(parts));
      case Expression::choice:
        return to.choice(e.condition, parts[0], parts[1]);
      case Expression::port:
        if (ports_[e.index] == 0) {
          ports_[e.index] = to.port();
          part.ports.push_back(e.index);
          to.ask(ports_[e.index], copies_[from_.through(e.index)]);
        }
        return to.beyond(ports_[e.index]);
      default: {
        if (memories_[e.index] == 0) {
          memories_[e.index] = to.memory() + 1;
          to.remember(memories_[e.index] - 1, copies_[from_.kept(e.index)]);
        }
        return to.recall(memories_[e.index] - 1);
      }
    }
  }

  const Crossings& from_;
  const std::vector<Node>& roots_;
  std::vector<Node> leader_;
  std::vector<bool> met_;
  std::vector<Node> copies_;
  std::vector<PortId> ports_;
  std::vector<Crossings::Memory> memories_;
};

}  // namespace

std::vector<CrossingPart> parts_of(const Crossings& crossings, const std::vector<Node>& roots) {
  return Division(crossings, roots).run();
}

}  // namespace rml
