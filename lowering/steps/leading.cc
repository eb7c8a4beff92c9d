// Computes two fixed points over the values. Every value counts as known early until it is found to depend on an input:
// at some instants, or at all.
#include "lowering/steps/leading.h"

#include <algorithm>
#include <limits>

#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml {

namespace {

// Lookahead in cycles: 0 if an input of the same cycle is needed, less if only inputs of earlier cycles are.
constexpr int nothing = std::numeric_limits<int>::min(), too_far = 8;

class Lookahead {
 public:
  // With `at_best`, finds the least lookahead over all instants, otherwise the greatest.
  Lookahead(const Core& core, bool at_best) : core_(core), at_best_(at_best), ahead_(core.values.size(), nothing) {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < ahead_.size(); ++i) {
        const int ahead = std::clamp(judge(ValueId{i}), nothing, too_far);
        if (ahead > ahead_[i]) ahead_[i] = ahead, moved = true;
      }
    }
  }
  bool before_inputs(ValueId v) const { return ahead_[v.index] < 0; }

 private:
  int most(const std::vector<ValueId>& list) const {
    int ahead = nothing;
    for (const ValueId v : list) ahead = std::max(ahead, ahead_[v.index]);
    return ahead;
  }
  int either(int a, int b) const { return at_best_ ? std::min(a, b) : std::max(a, b); }

  int judge(ValueId v) const {
    if (core_.is_const(v)) return nothing;
    int clock = nothing;
    for (const ClockId c : ancestors(core_, core_[v].clock)) clock = std::max(clock, ahead_[core_[c].condition.index]);
    return std::max(clock, std::visit(Overloaded{
                                          [](const core::Const&) { return nothing; },
                                          [](const core::Input&) { return 0; },
                                          [&](const core::Post& r) { return next(v, most({r.operand})); },
                                          [&](const core::Apply& r) { return most(r.operands); },
                                          [&](const core::Call& r) { return call(r); },
                                          [&](const core::Result& r) { return most({r.call}); },
                                          [&](const core::When& r) { return most({r.operand, r.condition}); },
                                          [&](const core::Fby& r) { return either(most({r.init}), before(r.next)); },
                                          [&](const core::Merge& r) {
                                            const int one = most({r.on_true}), other = most({r.on_false});
                                            return std::max(most({r.condition}), either(one, other));
                                          },
                                      },
                                      core_[v].rhs));
  }

  // The lookahead of a post. On a sampled clock, the distance to the next instant is unknown.
  int next(ValueId post, int ahead) const {
    return ahead == nothing ? nothing : core_[post].clock == base_clock ? ahead + 1 : too_far;
  }
  int before(ValueId v) const {
    const int ahead = most({v});
    return ahead == nothing || ahead == too_far ? ahead : ahead - 1;
  }
  int call(const core::Call& r) const {
    return is_repeatable(core_.externals[r.external]) ? most(r.operands) : too_far;
  }

  const Core& core_;
  const bool at_best_;
  std::vector<int> ahead_;  // one per ValueId: its lookahead in cycles
};

}  // namespace

std::vector<Leading> leading(const Core& core) {
  const Lookahead best(core, true), always(core, false);
  std::vector<Leading> result;
  for (std::size_t k = 0; k + core.watched < core.outputs.size(); ++k) {
    const ValueId v = core.outputs[k].value;
    result.push_back(always.before_inputs(v) ? Leading::always
                     : best.before_inputs(v) ? Leading::sometimes
                                             : Leading::never);
  }
  return result;
}

}  // namespace rml
