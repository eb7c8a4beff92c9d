// A letter is decided at its first query, first as false. The decisions of an instant form a path
// in a tree. The next path changes the last decision that was false.
#include "semantics/crossing/condition_run.h"

#include <algorithm>
#include <numeric>

namespace rml {

using Cell = Conditions::Cell;

ConditionRun::ConditionRun(const Conditions& conditions, const std::vector<Condition>& roots)
    : conditions_(conditions), place_(conditions.size()), memo_(conditions.size(), -1) {
  find_memories(roots);
}

void ConditionRun::find_memories(const std::vector<Condition>& roots) {
  constexpr std::uint64_t longest = 100'000;
  std::uint64_t period = 1;
  std::vector<bool> met(conditions_.size());
  std::vector<std::uint32_t> work;
  for (const Condition c : roots) work.push_back(conditions_.leader(c).cell());
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    work.pop_back();
    if (met[at]) continue;
    met[at] = true;
    const Cell& c = conditions_[at];
    for (const Condition o : {c.a, c.b, c.c, c.present}) work.push_back(conditions_.leader(o).cell());
    if (c.kind == Cell::memory) {
      place_[at] = static_cast<std::uint32_t>(memories_.size());
      memories_.push_back(at);
    }
    if (c.kind != Cell::repeated) continue;
    const Lasso& lasso = conditions_.lassos()[c.index];
    prefix_ = std::max(prefix_, static_cast<std::uint32_t>(lasso.loop));
    period = std::min(longest, std::lcm(period, std::uint64_t{lasso.held.size() - lasso.loop}));
  }
  period_ = static_cast<std::uint32_t>(period);
}

ConditionRun::State ConditionRun::start() const { return {std::vector<std::int8_t>(memories_.size(), -1), {}, 0}; }

void ConditionRun::begin(const State& state) {
  state_ = state;
  decisions_.clear();
  restart();
}

void ConditionRun::restart() {
  for (const std::uint32_t cell : known_) memo_[cell] = -1;
  known_.clear();
  promising_.clear();
  taken_ = 0;
}

bool ConditionRun::truth_of_cell(std::uint32_t cell) {
  if (cell == 0) return false;
  if (memo_[cell] >= 0) return memo_[cell] != 0;
  ++spent_;
  const Cell& c = conditions_[cell];
  bool found = false;
  switch (c.kind) {
    case Cell::constant:
      break;
    case Cell::letter:
      found = decide(cell);
      break;
    case Cell::ahead:
      found = decide(cell);
      promising_.push_back(cell);
      break;
    case Cell::conjunction:
      found = truth(c.a) && truth(c.b);
      break;
    case Cell::choice:
      found = truth(truth(c.a) ? c.b : c.c);
      break;
    case Cell::memory:
      found = remembered(cell);
      break;
    case Cell::repeated: {
      const Lasso& lasso = conditions_.lassos()[c.index];
      std::size_t at = state_.instant;
      if (at >= lasso.held.size()) at = lasso.loop + (at - lasso.loop) % (lasso.held.size() - lasso.loop);
      found = lasso.held[at];
    }
  }
  memo_[cell] = found ? 1 : 0;
  known_.push_back(cell);
  return found;
}

bool ConditionRun::remembered(std::uint32_t cell) {
  const std::int8_t kept = state_.memories[place_[cell]];
  return kept < 0 ? truth(conditions_[cell].a) : kept != 0;
}

bool ConditionRun::decide(std::uint32_t cell) {
  if (taken_ == decisions_.size()) decisions_.push_back({cell, false});
  return decisions_[taken_++].holds;
}

bool ConditionRun::consistent() {
  return std::ranges::all_of(state_.promises, [&](std::uint32_t code) { return truth({code}); });
}

ConditionRun::State ConditionRun::next() {
  State next = state_;
  for (std::size_t k = 0; k < next.memories.size(); ++k) {
    const Cell& c = conditions_[memories_[k]];
    if (truth(c.present)) next.memories[k] = truth(c.b) ? 1 : 0;
  }
  next.promises.clear();
  for (const std::uint32_t cell : promising_) {
    const Condition operand = conditions_.leader(conditions_[cell].a);
    next.promises.push_back(memo_[cell] != 0 ? operand.code : (!operand).code);
  }
  std::ranges::sort(next.promises);
  next.promises.erase(std::ranges::unique(next.promises).begin(), next.promises.end());
  next.instant = folded(state_.instant + 1);
  return next;
}

std::uint32_t ConditionRun::folded(std::uint32_t instant) const {
  return instant < prefix_ + period_ ? instant : prefix_ + (instant - prefix_) % period_;
}

std::vector<std::pair<ValueId, bool>> ConditionRun::letters() const {
  std::vector<std::pair<ValueId, bool>> found;
  for (std::size_t k = 0; k < taken_; ++k)
    found.emplace_back(conditions_[decisions_[k].cell].value, decisions_[k].holds);
  return found;
}

bool ConditionRun::other_letters() {
  decisions_.resize(taken_);
  while (!decisions_.empty() && decisions_.back().holds) decisions_.pop_back();
  if (decisions_.empty()) return false;
  decisions_.back().holds = true;
  restart();
  return true;
}

}  // namespace rml
