// Equality of conditions in drafts, as in clock inference (infer_clocks_conditions.h): equal
// trees of pure operators over the same values. A sampled value counts as its operand, because
// both are equal wherever both are present.
//
//   merge (x > 0) (y when (x > 0)) (z when not (x > 0))      one comparison
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/instantiate/draft.h"
#include "semantics/instantiate/solve_shapes.h"

namespace rml::draft {

class SameConditions {
 public:
  // Numbers the conditions. `end` has, for each draft value, the value that it is an alias of.
  SameConditions(const Draft& draft, const States& states, const std::vector<DraftId>& end)
      : draft_(draft), states_(states), rules_(draft, states), end_(end) {}

  struct Condition {
    DraftId value;
    bool positive = true;
    bool constant = false;  // true: `positive` is its value
  };
  // The condition without negations and samplings.
  Condition peel(DraftId d, bool positive) const;
  // Numbers of computations: values with equal numbers are equal wherever both are present.
  std::uint32_t number(DraftId d);

 private:
  const Tensor* constant(DraftId d) const { return states_[d.index].constant.get(); }
  std::string key(DraftId d);
  std::string text(DraftId d) { return std::to_string(number(d)) + " "; }

  const Draft& draft_;
  const States& states_;
  ShapeRules rules_;
  const std::vector<DraftId>& end_;
  // By DraftId; during the walk of a tree: its own number.
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
  std::unordered_map<std::string, std::uint32_t> shared_;
};

}  // namespace rml::draft
