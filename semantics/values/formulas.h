// Boolean functions of free letters as an and-inverter graph; equal nodes are shared.
//
// A formula is a node and a sign. Formulas may be recursive (`v = if d then w else q; w = if d
// then q else v`): a recursive formula is a variable whose definition is set when it is complete.
// Evaluation has three values: a formula that is undecided or depends on itself is `unseen`.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "semantics/values/truth.h"

namespace rml {

class Formulas {
 public:
  struct Formula {
    std::uint32_t code = 0;  // number of the node; the lowest bit says whether it is negated
    friend bool operator==(Formula, Formula) = default;
    Formula operator!() const { return {code ^ 1}; }
    std::uint32_t node() const { return code >> 1; }
    bool negative() const { return (code & 1) != 0; }
  };
  static constexpr Formula no{0}, yes{1};

  Formulas() { nodes_.push_back({Node::constant, no, no}); }

  Formula letter() { return add({Node::letter, no, no}); }
  Formula variable() { return add({Node::variable, no, no}); }
  void define(Formula variable, Formula definition) { nodes_[variable.node()].left = definition; }

  Formula both(Formula, Formula);
  Formula either(Formula a, Formula b) { return !both(!a, !b); }
  Formula choice(Formula c, Formula a, Formula b) { return either(both(c, a), both(!c, b)); }
  Formula same(Formula a, Formula b) { return choice(a, b, !b); }

  std::size_t size() const { return nodes_.size(); }
  // All nodes that the formulas depend on, operands before users except for variables.
  std::vector<std::uint32_t> cone(std::span<const Formula>) const;
  // Computes `values`, by node, for a cone. The values of letters must be set.
  void evaluate(const std::vector<std::uint32_t>& cone, std::vector<Truth>& values) const;
  static Truth value(Formula f, const std::vector<Truth>& values) {
    const Truth t = values[f.node()];
    return f.negative() ? negated(t) : t;
  }
  // An undecided letter that the formula depends on; 0 if there is none.
  std::uint32_t undecided(Formula, const std::vector<Truth>& values) const;

 private:
  struct Node {
    enum Kind : std::uint8_t { constant, letter, variable, conjunction } kind;
    Formula left, right;
  };
  Formula add(Node);
  Truth evaluate(const Node&, const std::vector<Truth>& values) const;

  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> conjunctions_;
};

}  // namespace rml
