// Constructs and evaluates formulas.
#include "semantics/values/formulas.h"

#include <algorithm>

namespace rml {

Formulas::Formula Formulas::add(Node node) {
  nodes_.push_back(node);
  return {static_cast<std::uint32_t>(nodes_.size() - 1) << 1};
}

Formulas::Formula Formulas::both(Formula a, Formula b) {
  if (b.code < a.code) std::swap(a, b);
  if (a == no || a == !b) return no;
  if (a == yes || a == b) return b;
  const auto [known, is_new] = conjunctions_.try_emplace(std::uint64_t{a.code} << 32 | b.code, 0);
  if (is_new) known->second = add({Node::conjunction, a, b}).node();
  return {known->second << 1};
}

std::vector<std::uint32_t> Formulas::cone(std::span<const Formula> formulas) const {
  std::vector<std::uint32_t> nodes, pending;
  std::vector<bool> met(nodes_.size(), false);
  const auto meet = [&](Formula f) {
    if (met[f.node()]) return;
    met[f.node()] = true;
    pending.push_back(f.node());
  };
  for (const Formula f : formulas) meet(f);
  while (!pending.empty()) {
    const std::uint32_t n = pending.back();
    pending.pop_back();
    nodes.push_back(n);
    if (nodes_[n].kind == Node::variable || nodes_[n].kind == Node::conjunction) meet(nodes_[n].left);
    if (nodes_[n].kind == Node::conjunction) meet(nodes_[n].right);
  }
  std::ranges::sort(nodes);  // a conjunction is created after its operands
  return nodes;
}

Truth Formulas::evaluate(const Node& node, const std::vector<Truth>& values) const {
  const Truth left = value(node.left, values);
  if (node.kind == Node::variable) return left;
  const Truth right = value(node.right, values);
  if (left == Truth::no || right == Truth::no) return Truth::no;
  return left == Truth::yes && right == Truth::yes ? Truth::yes : Truth::unseen;
}

void Formulas::evaluate(const std::vector<std::uint32_t>& cone, std::vector<Truth>& values) const {
  for (const std::uint32_t n : cone)
    if (nodes_[n].kind != Node::letter) values[n] = n == 0 ? Truth::no : Truth::unseen;
  // A variable precedes its definition, so the evaluation is repeated until nothing changes.
  for (bool again = true; again;) {
    for (const std::uint32_t n : cone) {
      const Node& node = nodes_[n];
      if (node.kind == Node::variable || node.kind == Node::conjunction) values[n] = evaluate(node, values);
    }
    again = std::ranges::any_of(cone, [&](std::uint32_t n) {
      return nodes_[n].kind == Node::variable && values[n] != value(nodes_[n].left, values);
    });
  }
}

std::uint32_t Formulas::undecided(Formula f, const std::vector<Truth>& values) const {
  std::vector<std::uint32_t> pending{f.node()};
  std::vector<bool> met(nodes_.size(), false);
  while (!pending.empty()) {
    const std::uint32_t n = pending.back();
    pending.pop_back();
    if (values[n] != Truth::unseen || met[n]) continue;
    if (nodes_[n].kind == Node::letter) return n;
    met[n] = true;
    pending.push_back(nodes_[n].left.node());
    if (nodes_[n].kind == Node::conjunction) pending.push_back(nodes_[n].right.node());
  }
  return 0;
}

}  // namespace rml
