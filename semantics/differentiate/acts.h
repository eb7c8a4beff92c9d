// Activities: the Boolean variables (`act`) that say at which cycles an adjoint is present.
//
// The activity of a variable is on the variable's clock; that of a subexpression is on the clock
// of the subexpression. An activity that is constructed twice in the same way is written once.
//
//   y = x when c;  z = 2.0 * y;      bp: z has an adjoint    bp_c = merge c bp false: x has one
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

  // down: `act` on the sampled clock. up: an activity of the sampled clock on the clock above it,
  // false elsewhere.
  Symbol down(Symbol act, const Sampling& s);
  Symbol up(Symbol act, const Sampling& s);
  Symbol down_all(Symbol act, const std::vector<Sampling>& list);
  // The activity that holds where `act` holds and c has the given truth value, on the same clock.
  Symbol where(Symbol act, Symbol c, bool truth);
  Symbol next(Symbol act);
  Symbol previous(Symbol act);
  // True at the first cycle of the clock.
  Symbol first(ClockTermId clock);
  // True at all cycles of a clock, or at none. Clock inference does not treat them as constants:
  // a stream sampled by one of them has its own clock, which exists.
  Symbol always(ClockTermId clock) { return constant(true, clock); }
  Symbol never(ClockTermId clock) { return constant(false, clock); }
  // True where any of the activities holds.
  Symbol any(const std::vector<Symbol>& acts, const std::string& hint);
  ExprId any_of(const std::vector<Symbol>& acts);
  // `yes` where c holds, `no` elsewhere.
  Symbol either(Symbol c, Symbol yes, Symbol no, const std::string& hint);

  // Declares `copy` equal to `act`: when the node is finished, uses of `copy` become uses of
  // `act`.
  void define_copy(Symbol copy, Symbol act);
  // resolved: the activity of which `act` is a copy. origin: follows copies and samplings.
  Symbol resolved(Symbol act) const;
  Symbol origin(Symbol act) const;

  // If down() made `act` by this sampling: the activity from which it was made. Else invalid.
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
  std::map<Symbol, Origin> origins_;  // indexed by a result of down(): its origin
  std::map<Symbol, Symbol> copies_;   // indexed by a copy: the original
};

}  // namespace rml::derivation
