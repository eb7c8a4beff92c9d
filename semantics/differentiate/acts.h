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
  Acts(const Conditions& conditions, GradientWriter& write) : conditions_(conditions), write_(write) {}

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
  // True at all cycles, which clocks need not see.
  Symbol always();
  // Where any of them holds.
  Symbol any(const std::vector<Symbol>& acts, const std::string& hint);
  ExprId any_of(const std::vector<Symbol>& acts);
  // yes where c holds, no where it does not.
  Symbol either(Symbol c, Symbol yes, Symbol no, const std::string& hint);

  // Where down() made `act`: what it was made from, if by this sampling. Invalid: it was not.
  Symbol above(Symbol act, const Sampling& s) const;
  bool is_down_all(Symbol act, Symbol whole, const std::vector<Sampling>& list) const;

 private:
  enum class Way { sampled, lifted, branch, next, previous, first, any, either, always };
  struct Recipe {
    Way way;
    bool positive = true;
    std::vector<std::uint32_t> parts;
    friend auto operator<=>(const Recipe&, const Recipe&) = default;
  };
  Symbol made(Recipe recipe, const std::string& hint, const std::function<ExprId()>& right);
  std::string joint(Symbol act, Symbol c) const { return write_.text(act) + "_" + write_.text(c); }

  const Conditions& conditions_;
  GradientWriter& write_;
  std::map<Recipe, Symbol> made_;
  struct Origin {
    Symbol act;
    Sampling sampling;
  };
  std::map<Symbol, Origin> origins_;  // of what down() made
};

}  // namespace rml::derivation
