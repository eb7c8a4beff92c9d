// Clock unification.
//
// A clock is a variable, `ck on [not] c`, or never. Terms live in one arena; equal `on`
// terms are shared when they are made, and terms found equal later are linked (union-find),
// so unification is amortised near linear however deep clocks nest. Every term lies on one
// chain of `on`s that ends in a variable or in never, its root; path halving along that
// chain makes the occurs check (is the variable the other side's root?) as cheap.
// Example: unifying `'a` with `'b on c` links 'a to that term; unifying `'a on c` with
// `'b on c` links the two and their parents.
#pragma once

#include <unordered_map>
#include <vector>

#include "frontend/ast.h"

namespace rml {

// The truth value of a condition class (infer_clocks_conditions.h) or its negation.
// Class 0 is the constant true.
struct ClockCondition {
  std::uint32_t id = 0;
  bool positive = true;
  bool constant() const { return id == 0; }
  friend bool operator==(const ClockCondition&, const ClockCondition&) = default;
};

using SolverClock = Id<struct SolverClockTag>;

class ClockSolver {
 public:
  enum class Kind : std::uint8_t { variable, on, never };
  enum class Outcome : std::uint8_t { equal, different, never, cyclic };
  struct Term {
    Kind kind = Kind::variable;
    SolverClock link;          // itself, or the term it was found equal to
    SolverClock jump;          // towards the root: itself at the root
    SolverClock parent;        // of on
    ClockCondition condition;  // of on
    ExprId site;               // of a variable that was linked: where that happened
  };

  std::size_t size() const { return terms_.size(); }
  const Term& operator[](SolverClock t) const { return terms_[t.index]; }

  SolverClock fresh() { return add(Kind::variable, {}, {}); }
  SolverClock never() { return add(Kind::never, {}, {}); }
  SolverClock on(SolverClock parent, ClockCondition condition);
  // The representative of t's class.
  SolverClock find(SolverClock t);
  // The variable or never that t's chain ends in.
  SolverClock root(SolverClock t);
  bool is_never(SolverClock t) { return terms_[root(t).index].kind == Kind::never; }
  bool is_variable(SolverClock t) { return terms_[find(t).index].kind == Kind::variable; }
  // Makes a and b equal; when it cannot, says why and changes nothing that matters. `site`
  // is the expression that demands it.
  Outcome unify(SolverClock a, SolverClock b, ExprId site);

 private:
  SolverClock add(Kind kind, SolverClock parent, ClockCondition condition);
  void link(SolverClock from, SolverClock to, ExprId site);

  struct Key {
    std::uint32_t parent, condition;
    bool positive;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      return ((std::uint64_t{k.parent} << 32) | k.condition) * 0x9E3779B97F4A7C15u + k.positive;
    }
  };
  std::vector<Term> terms_;
  std::unordered_map<Key, SolverClock, KeyHash> shared_;
};

}  // namespace rml
