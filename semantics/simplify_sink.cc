// Sinking: work moves below the sampling that is all that uses it (part of simplify).
//
// A pure pointwise value all of whose uses are `when [not] c`, with one c and polarity, is
// computed on sampled operands instead, on the sub-clock: a branch costs, and can fail,
// only where it is taken; the init of a fby is computed at the start only. The operands
// are then asked in turn, from users down, so one sweep moves a whole expression.
// A merge of sampled values sinks likewise where a failure hides below it:
//
//   when c (merge d (when d y) z)    merge d' (when d' (when c y)) z,  d' = when c d
#include "semantics/simplify_passes.h"

namespace rml {

namespace {

struct Sampling {
  ValueId condition;
  bool positive = true;
};

class Sinking {
 public:
  Sinking(Core& core, std::vector<bool>& effects, const std::vector<ValueId>& roots)
      : core_(core), effects_(effects), clocks_(core) {
    effects_.resize(core.values.size(), false);
    users_.resize(core.values.size());
    uses_.resize(core.values.size(), 0);
    pinned_.resize(core.values.size(), false);
    gone_.resize(core.values.size(), false);
    queued_.resize(core.values.size(), false);
    moved_.resize(core.values.size());
    for (const ValueId root : roots) pinned_[root.index] = true;
    for (const Clock& clock : core.clocks)
      if (clock.condition.valid()) pinned_[clock.condition.index] = true;
    for (std::size_t v = 0; v < core.values.size(); ++v) note_uses(ValueId{v});
    find_failures();
  }

  bool run() {
    for (std::size_t v = 0; v < core_.values.size(); ++v) push(ValueId{v});
    while (!queue_.empty()) {  // last in, first out: users before operands
      const ValueId v = queue_.back();
      queue_.pop_back();
      queued_[v.index] = false;
      try_sink(v);
    }
    for (Parameter& p : core_.parameters) follow(p.value);
    for (Port& p : core_.watches) follow(p.value);
    return changed_;
  }

 private:
  void note_uses(ValueId v) {
    for_each_operand(core_[v].rhs, [&](ValueId operand) {
      users_[operand.index].push_back(v);
      ++uses_[operand.index];
    });
    if (const auto* when = std::get_if<core::When>(&core_[v].rhs)) {
      pinned_[when->condition.index] = true;
      samplings_.try_emplace(key(when->operand, when->condition, when->positive), v);
    }
    if (const auto* merge = std::get_if<core::Merge>(&core_[v].rhs)) pinned_[merge->condition.index] = true;
  }

  // Which values hang, within the cycle, on one that can fail.
  void find_failures() {
    fails_.resize(core_.values.size(), false);
    for (std::size_t v = 0; v < core_.values.size(); ++v) {
      const core::Rhs& rhs = core_.values[v].rhs;
      bool fails = effects_[v];
      if (std::holds_alternative<core::Apply>(rhs) || std::holds_alternative<core::Merge>(rhs) ||
          std::holds_alternative<core::When>(rhs))
        for_each_operand(rhs, [&](ValueId operand) { fails = fails || fails_[operand.index]; });
      fails_[v] = fails;
    }
  }

  static std::uint64_t key(ValueId operand, ValueId condition, bool positive) {
    return std::uint64_t{operand.index} << 33 | std::uint64_t{condition.index} << 1 | (positive ? 1 : 0);
  }

  void push(ValueId v) {
    if (queued_[v.index] || gone_[v.index]) return;
    if (!std::holds_alternative<core::Apply>(core_[v].rhs) && !std::holds_alternative<core::Merge>(core_[v].rhs))
      return;
    queued_[v.index] = true;
    queue_.push_back(v);
  }

  // The one sampling that all users are, if they are.
  bool only_sampling(ValueId v, Sampling& found) {
    std::vector<ValueId>& users = users_[v.index];
    if (pinned_[v.index] || uses_[v.index] == 0) return false;
    const auto samples = [&](ValueId u) {
      const auto* when = std::get_if<core::When>(&core_[u].rhs);
      return when != nullptr && when->operand == v ? when : nullptr;
    };
    while (!users.empty() && gone_[users.back().index]) users.pop_back();
    if (users.empty() || samples(users.back()) == nullptr) return false;  // the common case, at once
    std::erase_if(users, [&](ValueId u) { return gone_[u.index]; });
    for (const ValueId u : users) {
      const core::When* when = samples(u);
      if (when == nullptr) return false;
      if (found.condition.valid() && (found.condition != when->condition || found.positive != when->positive))
        return false;
      found = {when->condition, when->positive};
    }
    return !core_.is_const(found.condition);
  }

  void try_sink(ValueId v) {
    Sampling by;
    if (gone_[v.index] || !only_sampling(v, by)) return;
    const bool is_merge = std::holds_alternative<core::Merge>(core_[v].rhs);
    if (is_merge && !merge_sinks(v, by)) return;
    changed_ = true;
    const std::vector<ValueId> users = users_[v.index];
    const ValueId first = users[0];
    core::Rhs sunk;
    if (is_merge) {
      sunk = sampled_merge(std::get<core::Merge>(core_[v].rhs), by, core_[first].clock);
    } else {
      core::Apply apply = std::get<core::Apply>(core_[v].rhs);
      for (ValueId& operand : apply.operands) operand = sampled(operand, by, core_[first].clock);
      sunk = std::move(apply);
    }
    core_[first].span = core_[v].span;
    if (core_[first].name.empty()) core_[first].name = core_[v].name;
    for (const ValueId user : users) become(user, sunk);
    if (effects_[v.index]) effects_[first.index] = true;
    moved_[v.index] = first;
    drop(v);
    push(first);
    for_each_operand(core_[first].rhs, [&](ValueId operand) { push_source(operand); });
  }

  // A sampling of v turns into the sampled operator itself.
  void become(ValueId user, const core::Rhs& rhs) {
    for_each_operand(core_[user].rhs, [&](ValueId operand) { --uses_[operand.index]; });
    core_[user].rhs = rhs;
    note_uses(user);
    fails_[user.index] = true;  // at worst
  }

  // What a sampling samples may sink next, down through nested ones.
  void push_source(ValueId v) {
    while (const auto* when = std::get_if<core::When>(&core_[v].rhs)) v = when->operand;
    push(v);
  }

  // Removes v and what nothing else uses.
  void drop(ValueId v) {
    std::vector<ValueId> stack = {v};
    while (!stack.empty()) {
      const ValueId at = stack.back();
      stack.pop_back();
      if (gone_[at.index]) continue;
      gone_[at.index] = true;
      effects_[at.index] = false;
      for_each_operand(core_[at].rhs, [&](ValueId operand) {
        --uses_[operand.index];
        if (const auto* when = std::get_if<core::When>(&core_[operand].rhs); when != nullptr && unused(operand))
          stack.push_back(operand);
        else
          push(operand);
      });
    }
  }

  bool unused(ValueId v) const { return uses_[v.index] == 0 && !pinned_[v.index]; }

  // x sampled: the `when` there is, or a new one on the clock.
  ValueId sampled(ValueId x, Sampling by, ClockId clock) {
    if (core_.is_const(x)) return x;
    if (x == by.condition)
      return add({core::Const{Tensor::boolean(by.positive)}, DType::boolean, {}, base_clock, {}, {}, {}});
    const std::uint64_t at = key(x, by.condition, by.positive);
    const auto known = samplings_.find(at);
    if (known != samplings_.end() && !gone_[known->second.index] &&
        std::holds_alternative<core::When>(core_[known->second].rhs))
      return known->second;
    const Value& from = core_[x];
    const ValueId made =
        add({core::When{x, by.condition, by.positive}, from.dtype, from.shape, clock, from.span, from.instance, {}});
    samplings_[at] = made;
    return made;
  }

  ValueId add(Value value) {
    core_.values.push_back(std::move(value));
    const ValueId made{core_.values.size() - 1};
    users_.emplace_back();
    uses_.push_back(0);
    for (auto* flags : {&pinned_, &gone_, &queued_, &effects_}) flags->push_back(false);
    fails_.push_back(false);
    moved_.emplace_back();
    note_uses(made);
    return made;
  }

  bool merge_sinks(ValueId v, Sampling by) const {
    if (!fails_[v.index]) return false;
    const auto& merge = std::get<core::Merge>(core_[v].rhs);
    if (merge.condition == by.condition || core_.is_const(merge.condition)) return false;
    const auto movable = [&](ValueId branch, bool truth) {
      const auto* when = std::get_if<core::When>(&core_[branch].rhs);
      return core_.is_const(branch) ||
             (when != nullptr && when->condition == merge.condition && when->positive == truth);
    };
    return movable(merge.on_true, true) && movable(merge.on_false, false);
  }

  core::Merge sampled_merge(core::Merge merge, Sampling by, ClockId clock) {
    const ValueId condition = sampled(merge.condition, by, clock);
    const auto branch = [&](ValueId b, bool truth) {
      if (core_.is_const(b)) return b;
      const ValueId source = std::get<core::When>(core_[b].rhs).operand;
      const ClockId inner = clocks_.on(clock, condition, truth);
      return sampled(sampled(source, by, clock), {condition, truth}, inner);
    };
    merge.on_true = branch(merge.on_true, true);
    merge.on_false = branch(merge.on_false, false);
    merge.condition = condition;
    return merge;
  }

  void follow(ValueId& v) const {
    while (moved_[v.index].valid()) v = moved_[v.index];
  }

  Core& core_;
  std::vector<bool>& effects_;
  ClockTable clocks_;
  std::vector<std::vector<ValueId>> users_;  // with some that are gone
  std::vector<std::uint32_t> uses_;          // by values that are not
  std::vector<bool> pinned_, gone_, queued_, fails_;
  std::vector<ValueId> moved_;  // the sampled operator that took a value's place
  std::vector<ValueId> queue_;
  std::unordered_map<std::uint64_t, ValueId> samplings_;
  bool changed_ = false;
};

}  // namespace

bool sink(Core& core, std::vector<bool>& effects, const std::vector<ValueId>& roots) {
  return Sinking(core, effects, roots).run();
}

}  // namespace rml
