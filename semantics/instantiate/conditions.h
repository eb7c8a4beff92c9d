// Which drafts are the same condition, as clock inference sees it (infer_clocks_conditions.h): equal
// trees of pure operators over the same values. What is sampled counts as what it is sampled from:
// where both are present they are equal.
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
  // `end`: what each draft stands for.
  SameConditions(const Draft& draft, const States& states, const std::vector<DraftId>& end)
      : draft_(draft), states_(states), rules_(draft, states), end_(end) {}

  struct Condition {
    DraftId value;
    bool positive = true;
    bool constant = false;  // then `positive` is whether it holds
  };
  // Without negations and samplings.
  Condition peel(DraftId d, bool positive) const;
  // Equal numbers: equal values wherever both are present.
  std::uint32_t number(DraftId d);

 private:
  const Tensor* constant(DraftId d) const { return states_[d.index].constant.get(); }
  std::string key(DraftId d);
  std::string text(DraftId d) { return std::to_string(number(d)) + " "; }

  const Draft& draft_;
  const States& states_;
  ShapeRules rules_;
  const std::vector<DraftId>& end_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by DraftId; own while the tree is walked
  std::unordered_map<std::string, std::uint32_t> shared_;
};

}  // namespace rml::draft
