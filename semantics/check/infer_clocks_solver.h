// Clock unification.
//
// A clock is a variable, `ck on [not] c`, or never. All terms are in one vector. Equal `on` terms
// are shared when they are made; terms found equal later are linked (union-find). So unification
// is amortised near linear, however deep clocks nest. Each term is on one chain of `on`s that
// ends in its root, a variable or never. Path halving along that chain keeps the occurs check
// cheap: it asks whether the variable is the root of the other side. Example: unifying `'a` with
// `'b on c` links 'a to that term; unifying `'a on c` with `'b on c` links the two terms and
// their parents.
#pragma once

#include <unordered_map>
#include <vector>

#include "frontend/ast.h"

namespace rml {

// The truth value of a condition class (infer_clocks_conditions.h), or its negation. Class 0 is
// the constant true.
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
    SolverClock link;          // itself, or the term that it was found equal to
    SolverClock jump;          // a term nearer to the root; at the root, itself
    SolverClock parent;        // for a clock `on`: the clock that is sampled
    ClockCondition condition;  // for a clock `on`: the condition of the sampling
    ExprId site;               // for a linked variable: the expression that caused the link
  };

  std::size_t size() const { return terms_.size(); }
  const Term& operator[](SolverClock t) const { return terms_[t.index]; }

  SolverClock fresh() { return add(Kind::variable, {}, {}); }
  SolverClock never() { return add(Kind::never, {}, {}); }
  SolverClock on(SolverClock parent, ClockCondition condition);
  // The representative of t's class.
  SolverClock find(SolverClock t);
  // The root of t's chain: a variable, or never.
  SolverClock root(SolverClock t);
  bool is_never(SolverClock t) { return terms_[root(t).index].kind == Kind::never; }
  bool is_variable(SolverClock t) { return terms_[find(t).index].kind == Kind::variable; }
  // Makes a and b equal. On failure it returns the reason and leaves the clocks of the user
  // unchanged. `site` is the expression that requires the equality.
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
