// Builds choices by recursion over the first letter of the three functions; results are cached.
#include "semantics/values/boolean_functions.h"

#include <algorithm>

namespace rml {

using Function = BooleanFunctions::Function;

Function BooleanFunctions::make(const Question& q) {
  if (q.if_yes == q.if_no) return q.if_yes;
  const auto [known, is_new] = nodes_.try_emplace(q, static_cast<std::uint32_t>(questions_.size()));
  if (is_new) questions_.push_back(q);
  return {known->second};
}

Function BooleanFunctions::part(Function f, std::uint32_t letter, bool answer) const {
  const Question& q = questions_[f.node];
  if (q.letter != letter) return f;
  return answer ? q.if_yes : q.if_no;
}

Function BooleanFunctions::choice(Function condition, Function if_yes, Function if_no) {
  if (condition == yes || if_yes == if_no) return if_yes;
  if (condition == no) return if_no;
  if (if_yes == yes && if_no == no) return condition;
  if (spent()) return yes;
  const Question asked{condition.node, if_yes, if_no};
  if (const auto known = choices_.find(asked); known != choices_.end()) return known->second;
  const std::uint32_t first =
      std::min({questions_[condition.node].letter, questions_[if_yes.node].letter, questions_[if_no.node].letter});
  const auto under = [&](bool answer) {
    return choice(part(condition, first, answer), part(if_yes, first, answer), part(if_no, first, answer));
  };
  const Function true_part = under(true);
  const Function found = make({first, true_part, under(false)});
  return choices_[asked] = found;
}

Function BooleanFunctions::with(Function f, std::uint32_t letter, Function by) {
  const Question q = questions_[f.node];
  if (q.letter > letter) return f;  // f does not depend on the letter; this holds for constants as well
  if (q.letter == letter) return choice(by, q.if_yes, q.if_no);
  const Function if_yes = with(q.if_yes, letter, by);
  return choice(make({q.letter, yes, no}), if_yes, with(q.if_no, letter, by));
}

Function BooleanFunctions::where(Function f, Function care) {
  std::unordered_map<std::uint64_t, Function> known;
  return care == no ? no : where(f, care, known);
}

// Skips letters that only `care` tests. If `care` excludes one value of a letter, only the other
// value is followed.
Function BooleanFunctions::where(Function f, Function care, std::unordered_map<std::uint64_t, Function>& known) {
  if (f.node < 2 || care == yes) return f;
  const std::uint64_t key = std::uint64_t{f.node} << 32 | care.node;
  if (const auto at = known.find(key); at != known.end()) return at->second;
  const std::uint32_t first = questions_[f.node].letter, other = questions_[care.node].letter;
  Function found = no;
  if (other < first) {
    found = where(f, for_either(care, other), known);
  } else {
    const Function care_yes = part(care, first, true), care_no = part(care, first, false);
    const Function if_yes = part(f, first, true), if_no = part(f, first, false);
    if (care_yes == no) {
      found = where(if_no, care_no, known);
    } else if (care_no == no) {
      found = where(if_yes, care_yes, known);
    } else {
      const Function true_part = where(if_yes, care_yes, known);
      found = make({first, true_part, where(if_no, care_no, known)});
    }
  }
  return known[key] = found;
}

std::vector<std::uint32_t> BooleanFunctions::letters(Function f) const {
  std::vector<std::uint32_t> found;
  std::vector<std::uint32_t> work{f.node};
  std::vector<bool> met(questions_.size());
  while (!work.empty()) {
    const std::uint32_t n = work.back();
    work.pop_back();
    if (n < 2 || met[n]) continue;
    met[n] = true;
    found.push_back(questions_[n].letter);
    work.insert(work.end(), {questions_[n].if_yes.node, questions_[n].if_no.node});
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace rml
