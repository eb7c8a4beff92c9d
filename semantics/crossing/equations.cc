// Shares equal expressions by hashing, and simplifies a few forms when they are made.
#include "semantics/crossing/equations.h"

#include <algorithm>

#include "semantics/crossing/alike.h"

namespace rml {

using Node = Crossings::Node;
using Expression = Crossings::Expression;

Crossings::Crossings() : nodes_(1), through_(first_port, none), groups_(first_port) {}

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
  constexpr std::size_t short_union = 8;  // a union with at most this number of parts is inlined into another one
  const std::size_t count = parts.size();
  for (std::size_t k = 0; k < count; ++k) {
    const Expression& part = nodes_[parts[k]];
    if (part.kind != Expression::all || part.parts.size() < 2 || part.parts.size() > short_union) continue;
    parts[k] = none;
    parts.insert(parts.end(), part.parts.begin(), part.parts.end());
  }
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

PortId Crossings::port(std::uint8_t group) {
  through_.push_back(none);
  groups_.push_back(group);
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

Node Crossings::resolved(Node n) const {
  const auto stands_for_another = [&](Node m) {
    return nodes_[m].kind == Expression::all && nodes_[m].parts.size() == 1;
  };
  for (std::size_t steps = 0; stands_for_another(n) && steps < nodes_.size(); ++steps) n = nodes_[n].parts[0];
  return n;
}

namespace {

class Division {
 public:
  Division(const Crossings& from, const Conditions& conditions, const std::vector<Node>& roots)
      : from_(from), conditions_(conditions), leader_(from.size()), met_(from.size()) {
    find_alike();
    for (const Node root : roots) roots_.push_back(first(root));
    for (Node n = 0; n < leader_.size(); ++n) leader_[n] = n;
    for (const Node root : roots_) reach(root);
  }

  std::vector<CrossingPart> run() {
    std::unordered_map<Node, std::uint32_t> number;
    std::vector<CrossingPart> out;
    for (const Node root : roots_)
      if (root != Crossings::none && number.try_emplace(find(root), out.size()).second) {
        out.emplace_back();
        out.back().roots.assign(roots_.size(), Crossings::none);
        out.back().ports.resize(first_port);
      }
    states_.assign(from_.size(), unseen);
    states_[Crossings::none] = known;
    copies_.resize(from_.size());
    ports_.resize(from_.size());
    memories_.resize(from_.size());
    for (std::size_t k = 0; k < roots_.size(); ++k) {
      if (roots_[k] == Crossings::none) continue;
      CrossingPart& part = out[number.at(find(roots_[k]))];
      part.roots[k] = copy(part, roots_[k]);
    }
    complete(out, number);
    return out;
  }

 private:
  enum State : std::uint8_t { unseen, open, done, known };

  Node first(Node n) const { return alike_[from_.resolved(n)]; }

  void find_alike() {
    std::vector<std::uint32_t> classes;
    alike_ = first_alike(from_.size(), [&](Node n, auto&& class_of, std::vector<std::uint32_t>& words) {
      const Expression& e = from_[n];
      words.push_back(e.kind);
      words.push_back(e.kind == Expression::port ? from_.group(e.index) : conditions_.leader(e.condition).code);
      classes.clear();
      for_each_link(n, [&](Node m) { classes.push_back(class_of(from_.resolved(m))); });
      if (e.kind == Expression::all) {
        std::ranges::sort(classes);
        classes.erase(std::ranges::unique(classes).begin(), classes.end());
      }
      words.insert(words.end(), classes.begin(), classes.end());
    });
  }

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
        m = first(m);
        if (m == Crossings::none) return;
        leader_[find(m)] = find(n);
        work.push_back(m);
      });
    }
  }

  // Copies operands first; an operand on the current path gets a place. Ports and memories are
  // completed later.
  Node copy(CrossingPart& part, Node root) {
    std::vector<Node> roots{root};
    while (!roots.empty()) {
      std::vector<Node> work{roots.back()};
      roots.pop_back();
      while (!work.empty()) {
        const Node n = work.back();
        State& state = states_[n];
        const std::size_t size = work.size();
        if (state == unseen) {
          state = open;
          if (from_[n].kind == Expression::port || from_[n].kind == Expression::memory)
            for_each_link(n, [&](Node m) { roots.push_back(first(m)); });
          else
            for_each_link(n, [&](Node m) { need(part, first(m), work); });
        }
        if (work.size() > size) continue;
        work.pop_back();
        if (state == open) finish(part, n);
      }
    }
    return copies_[root];
  }

  void need(CrossingPart& part, Node n, std::vector<Node>& work) {
    if (states_[n] == unseen) return work.push_back(n);
    if (states_[n] == open && copies_[n] == Crossings::none) copies_[n] = part.crossings.later();
  }

  void finish(CrossingPart& part, Node n) {
    states_[n] = done;
    const Node made = copied(part, n);
    if (copies_[n] != Crossings::none)
      part.crossings.define(copies_[n], made);
    else
      copies_[n] = made;
  }

  // Copies an expression whose operands are copied or have a place.
  Node copied(CrossingPart& part, Node n) {
    Crossings& to = part.crossings;
    const Expression& e = from_[n];
    std::vector<Node> parts;
    for (const Node m : e.parts) parts.push_back(copies_[first(m)]);
    switch (e.kind) {
      case Expression::none:
        return Crossings::none;
      case Expression::all:
        return to.all(std::move(parts));
      case Expression::choice:
        return to.choice(conditions_.leader(e.condition), parts[0], parts[1]);
      case Expression::port:
        ports_[n] = to.port(from_.group(e.index));
        part.ports.push_back(e.index);
        return to.beyond(ports_[n]);
      default:
        memories_[n] = to.memory();
        return to.recall(memories_[n]);
    }
  }

  // Ports and memories belong to the part of the expression that names them.
  void complete(std::vector<CrossingPart>& parts, const std::unordered_map<Node, std::uint32_t>& number) {
    for (Node n = 0; n < from_.size(); ++n) {
      if (states_[n] != done) continue;
      CrossingPart& part = parts[number.at(find(n))];
      if (from_[n].kind == Expression::port)
        part.crossings.ask(ports_[n], copies_[first(from_.through(from_[n].index))]);
      if (from_[n].kind == Expression::memory)
        part.crossings.remember(memories_[n], copies_[first(from_.kept(from_[n].index))]);
    }
  }

  const Crossings& from_;
  const Conditions& conditions_;
  std::vector<Node> roots_;
  std::vector<std::uint32_t> alike_;  // indexed by node: the first node that is equal to it
  std::vector<Node> leader_;          // indexed by node: representative of the part that contains it
  std::vector<bool> met_;
  std::vector<State> states_;  // indexed by node: state of its copy
  std::vector<Node> copies_;
  std::vector<PortId> ports_;
  std::vector<Crossings::Memory> memories_;
};

}  // namespace

std::vector<CrossingPart> parts_of(const Crossings& crossings, const Conditions& conditions,
                                   const std::vector<Node>& roots) {
  return Division(crossings, conditions, roots).run();
}

}  // namespace rml
