// Acts: the Booleans that say where an adjoint is present. The act of a variable is on the variable's clock, that of a
// part of an expression on the part's. An act that is made the same way as an earlier one is that one.
//
//   y = x when c;  z = 2.0 * y;      bp: z is asked for    bp_c = merge c bp false: x gets something
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "semantics/differentiate/conditions.h"

namespace rml::derivation {

class Acts {
 public:
  Acts(Conditions& conditions, GradientWriter& write) : conditions_(conditions), write_(write) {}

  // act on the clock that the sampling leads to; on the one that it comes from, false elsewhere.
  Symbol down(Symbol act, const Sampling& s);
  Symbol up(Symbol act, const Sampling& s);
  Symbol down_all(Symbol act, const std::vector<Sampling>& list);
  // act where c has the given truth, on the same clock.
  Symbol where(Symbol act, Symbol c, bool truth);
  Symbol next(Symbol act);
  Symbol previous(Symbol act);
  // True at the first cycle of a clock.
  Symbol first(ClockTermId clock);
  // True at all cycles of a clock, or at none. Neither is a constant for the checks of clocks: what is sampled by it
  // has a clock of its own, which exists.
  Symbol always(ClockTermId clock) { return constant(true, clock); }
  Symbol never(ClockTermId clock) { return constant(false, clock); }
  // Where any of them holds.
  Symbol any(const std::vector<Symbol>& acts, const std::string& hint);
  ExprId any_of(const std::vector<Symbol>& acts);
  // yes where c holds, no where it does not.
  Symbol either(Symbol c, Symbol yes, Symbol no, const std::string& hint);

  // `copy` is `act`: uses of the one become uses of the other when the node is finished.
  void define_copy(Symbol copy, Symbol act);
  // The activity that `act` is a copy of, and that it is a copy or a sampling of.
  Symbol resolved(Symbol act) const;
  Symbol origin(Symbol act) const;

  // Where down() made `act`: what it was made from, if by this sampling. Invalid: it was not.
  Symbol above(Symbol act, const Sampling& s) const;
  bool is_down_all(Symbol act, Symbol whole, const std::vector<Sampling>& list) const;

 private:
  enum class Way { lifted, branch, next, previous, first, any, either, constant };
  struct Recipe {
    Way way;
    bool positive = true;
    std::vector<std::uint32_t> parts;
    friend auto operator<=>(const Recipe&, const Recipe&) = default;
  };
  Symbol constant(bool value, ClockTermId clock);
  Symbol made(Recipe recipe, const std::string& hint, const std::function<ExprId()>& right);
  std::string joint(Symbol act, Symbol c) const { return write_.text(act) + "_" + write_.text(c); }

  Conditions& conditions_;
  GradientWriter& write_;
  std::map<Recipe, Symbol> made_;
  struct Origin {
    Symbol act;
    Sampling sampling;
  };
  std::map<Symbol, Origin> origins_;  // of what down() made
  std::map<Symbol, Symbol> copies_;   // of what, by copy
};

}  // namespace rml::derivation
