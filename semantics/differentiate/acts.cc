// Each activity is written by a recipe; a map from recipes to variables shares equal ones.
#include "semantics/differentiate/acts.h"

namespace rml::derivation {

Symbol Acts::made(Recipe recipe, const std::string& hint, const std::function<ExprId()>& right) {
  const auto [known, is_new] = made_.try_emplace(std::move(recipe));
  if (!is_new) return known->second;
  const Symbol s = write_.fresh(hint);
  known->second = s;
  write_.equation(s, right());
  return s;
}

Symbol Acts::down(Symbol act, const Sampling& s) {
  if (conditions_.keeps_all(s)) return act;
  const Symbol sampled = conditions_.sampled(act, s);
  origins_.emplace(sampled, Origin{act, s});
  return sampled;
}

Symbol Acts::up(Symbol act, const Sampling& s) {
  if (conditions_.keeps_all(s)) return act;
  return made({Way::lifted, s.positive, {act.index, s.condition.index}}, joint(act, s.condition), [&] {
    return s.positive ? write_.merge(s.condition, write_.name(act), write_.boolean(false))
                      : write_.merge(s.condition, write_.boolean(false), write_.name(act));
  });
}

Symbol Acts::down_all(Symbol act, const std::vector<Sampling>& list) {
  for (const Sampling& s : list) act = down(act, s);
  return act;
}

Symbol Acts::where(Symbol act, Symbol c, bool truth) {
  return made({Way::branch, truth, {act.index, c.index}}, joint(act, c), [&] {
    return truth ? write_.choose(c, write_.name(act), write_.boolean(false))
                 : write_.choose(c, write_.boolean(false), write_.name(act));
  });
}

Symbol Acts::next(Symbol act) {
  return made({Way::next, true, {act.index}}, write_.text(act) + "_next",
              [&] { return write_.add(ast::Post{write_.name(act)}); });
}

Symbol Acts::previous(Symbol act) {
  return made({Way::previous, true, {act.index}}, write_.text(act) + "_prev",
              [&] { return write_.add(ast::Fby{write_.boolean(false), write_.name(act)}); });
}

Symbol Acts::first(ClockTermId clock) {
  return made({Way::first, true, {clock.index}}, "first",
              [&] { return write_.add(ast::Fby{write_.boolean(true), write_.boolean(false)}); });
}

Symbol Acts::constant(bool value, ClockTermId clock) {
  Recipe recipe{Way::constant, value, {conditions_.root(clock)}};
  for (const Sampling& s : conditions_.down_to(clock)) {
    recipe.parts.push_back(s.condition.index);
    recipe.parts.push_back(s.positive ? 1 : 0);
  }
  if (value)
    return made(std::move(recipe), "always",
                [&] { return write_.add(ast::Fby{write_.boolean(true), write_.boolean(true)}); });
  // A constant comparison instead of a delay: the node may be a round of an iteration, which has
  // no memory.
  return made(std::move(recipe), "never", [&] { return any_of({}); });
}

Symbol Acts::any(const std::vector<Symbol>& acts, const std::string& hint) {
  Recipe recipe{Way::any, true, {}};
  for (const Symbol a : acts) recipe.parts.push_back(a.index);
  return made(std::move(recipe), hint, [&] { return any_of(acts); });
}

// An `or` that needs the later activities only where the earlier ones are false: they may be in
// the future.
ExprId Acts::any_of(const std::vector<Symbol>& acts) {
  if (acts.empty()) return write_.binary(BinaryOp::lt, write_.integer(1), write_.integer(0));
  ExprId all = write_.name(acts.back());
  for (std::size_t k = acts.size() - 1; k-- > 0;) all = write_.choose(acts[k], write_.boolean(true), all);
  return all;
}

Symbol Acts::either(Symbol c, Symbol yes, Symbol no, const std::string& hint) {
  const auto a = origins_.find(yes), b = origins_.find(no);
  const bool same_origin = a != origins_.end() && b != origins_.end() && a->second.act == b->second.act &&
                           a->second.sampling.condition == c && b->second.sampling.condition == c;
  if (same_origin) return a->second.act;
  return made({Way::either, true, {c.index, yes.index, no.index}}, hint,
              [&] { return write_.merge(c, write_.name(yes), write_.name(no)); });
}

void Acts::define_copy(Symbol copy, Symbol act) {
  if (copy == act) return;
  // The activity depends on itself; a later check refuses the program.
  if (resolved(act) == copy) return write_.equation(copy, write_.name(act));
  copies_.emplace(copy, act);
  write_.replace(copy, act);
}

Symbol Acts::resolved(Symbol act) const {
  for (auto at = copies_.find(act); at != copies_.end(); at = copies_.find(act)) act = at->second;
  return act;
}

Symbol Acts::origin(Symbol act) const {
  for (;;) {
    act = resolved(act);
    const auto from = origins_.find(act);
    if (from == origins_.end()) return act;
    act = from->second.act;
  }
}

Symbol Acts::above(Symbol act, const Sampling& s) const {
  const auto from = origins_.find(act);
  return from != origins_.end() && from->second.sampling == s ? from->second.act : Symbol{};
}

bool Acts::is_down_all(Symbol act, Symbol whole, const std::vector<Sampling>& list) const {
  for (std::size_t k = list.size(); k-- > 0;) {
    if (conditions_.keeps_all(list[k])) continue;
    act = above(resolved(act), list[k]);
    if (!act.valid()) return false;
  }
  return resolved(act) == whole;
}

}  // namespace rml::derivation
