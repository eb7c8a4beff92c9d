// The largest sum of steps to each value, by relaxation. A way that goes nowhere twice takes no more steps than there
// are fby and post: sums beyond that number are cut, which ends the search where a way goes round.
#include "semantics/time/find_foresight.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>

#include "semantics/core/queries.h"

namespace rml {
namespace {

class Search {
 public:
  Search(const Core& core, ValueId from)
      : core_(core), reached_(core.values.size(), unreached), before_(core.values.size()), waits_(core.values.size()) {
    bound_ = 1 + std::ranges::count_if(core.values, steps);
    relax({}, from, 0);
    while (!work_.empty()) {
      const ValueId v = work_.front();
      work_.pop_front();
      waits_[v.index] = false;
      follow(v);
    }
  }

  std::vector<Foresight> inputs() const {
    std::vector<Foresight> found;
    for (const Port& p : core_.inputs)
      if (const std::int64_t at = reached_[p.value.index]; at >= 0) found.push_back({p.value, way_to(p.value), at > 0});
    return found;
  }

 private:
  static constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::min();

  static bool steps(const Value& v) {
    return std::holds_alternative<core::Fby>(v.rhs) || std::holds_alternative<core::Post>(v.rhs);
  }

  void follow(ValueId v) {
    const Value& value = core_[v];
    const std::int64_t at = reached_[v.index];
    for (const ClockId c : ancestors(core_, value.clock)) relax(v, core_[c].condition, at);
    if (const auto* delay = std::get_if<core::Fby>(&value.rhs)) {
      relax(v, delay->init, at);
      relax(v, delay->next, at - 1);
    } else if (const auto* look = std::get_if<core::Post>(&value.rhs)) {
      relax(v, look->operand, value.clock == base_clock ? at + 1 : bound_);
    } else {
      for_each_operand(value.rhs, [&](ValueId o) { relax(v, o, at); });
    }
  }

  void relax(ValueId from, ValueId to, std::int64_t sum) {
    sum = std::min(sum, bound_);
    std::int64_t& best = reached_[to.index];
    if (sum <= best || sum < -bound_) return;
    best = sum;
    before_[to.index] = from;
    if (!waits_[to.index]) work_.push_back(to);
    waits_[to.index] = true;
  }

  std::vector<ValueId> way_to(ValueId input) const {
    std::vector<ValueId> way;
    std::vector<bool> seen(core_.values.size());
    for (ValueId v = input; v.valid() && !seen[v.index]; v = before_[v.index]) {
      seen[v.index] = true;
      way.push_back(v);
    }
    std::ranges::reverse(way);
    return way;
  }

  const Core& core_;
  std::int64_t bound_ = 0;
  std::vector<std::int64_t> reached_;
  std::vector<ValueId> before_;
  std::vector<bool> waits_;
  std::deque<ValueId> work_;
};

}  // namespace

std::vector<Foresight> find_foresight(const Core& core, ValueId value) { return Search(core, value).inputs(); }

}  // namespace rml
