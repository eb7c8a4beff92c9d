// Equality of conditions.
//
// `ck on c` and `ck on d` are equal clocks if c and d are known to have the same truth value.
// That is so if both are the same variable, also through copies `c = d;` and negations `c = not
// d;` (with the other sign); or the same tree of pure operators over the same variables; or the
// same constant. A sampled condition, `c when b`, counts as c. The representative of a class is a
// variable of the node's interface if possible, so that callers can be shown the clock. Example:
// with `c = not d; e = c;`, `x when e` and `x when not d` have one clock.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "semantics/check/checked.h"
#include "semantics/check/infer_clocks_solver.h"

namespace rml {

class ConditionClasses {
 public:
  ConditionClasses(const Program& program, const Resolved& names) : program_(program), names_(names) {}

  // Discards the previous node's classes and begins with this node.
  void enter(NodeId node);
  ClockCondition of(ExprId e);
  ClockCondition of_variable(std::uint32_t variable);
  // A condition that equals no other, for a result bound to `_`.
  ClockCondition unnamed();

  struct Class {
    std::int32_t variable = -1;  // the representative variable; -1 if the representative is `expr`
    ExprId expr;
    bool positive = true;  // false: the class is the representative's negation
    bool unnamed = false;
  };
  const Class& operator[](std::uint32_t id) const { return classes_[id]; }

 private:
  // An expression without the copies and negations around it.
  struct Peeled {
    ExprId expr;
    bool positive = true;
    std::int32_t variable = -1;  // index of the variable that the expression is; -1: none
    bool literal = false;        // true if the expression is the constant true
  };
  Peeled peel(ExprId e) const;
  std::uint32_t add(Class c);
  std::uint32_t structure(ExprId e);
  std::vector<std::uint64_t> structure_key(ExprId e);
  void key_of(ExprId e, const ast::Name& name, std::vector<std::uint64_t>& key);
  std::uint32_t pure(const std::vector<std::uint64_t>& key);

  const Program& program_;
  const Resolved& names_;
  NodeId node_;
  std::vector<Class> classes_;
  std::vector<ClockCondition> of_variable_;
  // One per variable; 0: not visited, 1: being visited, 2: its class is known.
  std::vector<std::uint8_t> state_;
  // Indexed by ExprId: number of the expression's structure.
  std::unordered_map<std::uint32_t, std::uint32_t> structures_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> shared_;  // number of a structure, found by its key
  std::unordered_map<std::uint32_t, std::uint32_t> by_structure_;
};

}  // namespace rml
