// Turns lookahead into delay (passes.h). For every value u of the component (or operand of it) and every requested
// offset s, `at_offset(u, s)` is the value that at step t holds u's instant t - s. Its clock is u's clock seen s steps
// late: K on active_s on the conditions of u's clock at the same offset, where active_s is false for the first s steps.
// Delays by one step go through the full clock K:
//
//   at_offset(u, s) = (0 fby fill(at_offset(u, s - 1))) when active_s when conditions
//
// fill pads with zeros the instants at which a value is absent.
#include <algorithm>
#include <map>

#include "lowering/schedule/passes.h"
#include "semantics/core/queries.h"
#include "semantics/time/offsets.h"

namespace rml {

namespace {

class Retiming {
 public:
  Retiming(Core& core, const Component& component, const std::vector<int>& offsets)
      : core_(core), clock_(component.clock), members_(component.values) {
    for (std::size_t i = 0; i < members_.size(); ++i) offset_[members_[i]] = offsets[i];
    for (std::size_t i = 0; i < core.values.size(); ++i)
      if (is_start(core, ValueId{i})) starts_[ValueId{i}] = true;
  }

  void run() {
    // New ids come first, because definitions refer to each other.
    for (ValueId v : members_) {
      original_[v] = core_[v].rhs;
      original_clock_[v] = core_[v].clock;
      if (offset_[v] == 0) {
        late_[v] = v;
      } else {
        late_[v] = ValueId{core_.values.size()};
        core_.values.push_back(core_[v]);
      }
    }
    for (ValueId v : members_) core_[late_[v]].clock = clock_at(original_clock_[v], offset_[v]);
    for (ValueId v : members_) {
      core::Rhs rhs = define(v, offset_[v]);
      core_[late_[v]].rhs = std::move(rhs);
    }
    for (ValueId v : members_)
      if (offset_[v] > 0) recover(v);
    for (Parameter& p : core_.parameters)
      if (offset_.contains(p.value)) p.value = memory_of(p.value);
  }

 private:
  ClockId clock_of(ValueId v) const {
    const auto at = original_clock_.find(v);
    return at == original_clock_.end() ? core_[v].clock : at->second;
  }

  // `like` is passed by value: evaluating other arguments may add values, which moves the vector.
  ValueId add(core::Rhs rhs, Value like, ClockId clock) {
    like.rhs = std::move(rhs);
    like.clock = clock;
    like.name.clear();
    core_.values.push_back(std::move(like));
    return ValueId{core_.values.size() - 1};
  }

  ValueId constant(Tensor t, ValueId like, ClockId clock) {
    Value v = core_[like];
    v.dtype = t.dtype();
    v.shape = t.shape();
    return add(core::Const{std::move(t)}, v, clock);
  }
  ValueId zero(ValueId like, ClockId clock) {
    return constant(Tensor(core_[like].dtype, core_[like].shape), like, clock);
  }

  ClockId sampled(ClockId parent, ValueId condition, bool positive) {
    for (std::size_t i = 0; i < core_.clocks.size(); ++i) {
      const Clock& c = core_.clocks[i];
      if (c.parent == parent && c.condition == condition && c.positive == positive) return ClockId{i};
    }
    core_.clocks.push_back({parent, condition, positive});
    return ClockId{core_.clocks.size() - 1};
  }

  // A Boolean that is false for the first s steps.
  ValueId active(int s) {
    if (const auto at = active_.find(s); at != active_.end()) return at->second;
    const ValueId like = members_[0];
    const ValueId before = s == 1 ? constant(Tensor::boolean(true), like, clock_) : active(s - 1);
    const ValueId init = constant(Tensor::boolean(false), like, clock_);
    Value boolean = core_[like];
    boolean.dtype = DType::boolean;
    boolean.shape = {};
    return active_[s] = add(core::Fby{init, before}, boolean, clock_);
  }

  // The clocks from below K down to `clock`, outermost first.
  std::vector<ClockId> path(ClockId clock) const { return path_to(core_, clock, clock_); }

  ClockId clock_at(ClockId clock, int s) {
    if (s == 0 && std::ranges::none_of(path(clock), [&](ClockId c) { return late(core_[c].condition); })) return clock;
    ClockId out = s == 0 ? clock_ : sampled(clock_, active(s), true);
    for (ClockId c : path(clock)) {
      const Clock step = core_[c];
      const ValueId condition = at_offset(step.condition, s);
      out = sampled(out, condition, step.positive);
    }
    return out;
  }
  bool late(ValueId v) const {
    const auto at = offset_.find(v);
    return at != offset_.end() && at->second > 0;
  }

  ValueId at_offset(ValueId u, int s) {
    if (core_.is_const(u)) return u;
    const auto member = offset_.find(u);
    const int own = member == offset_.end() ? 0 : member->second;
    if (s == own) return member == offset_.end() ? u : late_.at(u);
    const auto key = std::pair{u, s};
    if (const auto at = delayed_.find(key); at != delayed_.end()) return at->second;
    if (const auto* p = std::get_if<core::Post>(&core_[u].rhs);
        p != nullptr && member == offset_.end() && core_[u].clock == clock_) {
      // A value of another component that looks ahead is available one step earlier.
      const ValueId operand = p->operand;
      const ValueId full = fill(operand, at_offset(operand, s - 1), s - 1);
      return delayed_[key] = add(core::When{full, active(s), true}, core_[u], clock_at(clock_, s));
    }
    if (member == offset_.end() && sampled_ahead(u)) {
      // If the condition looks ahead, the sample is taken again from late operands.
      core::Rhs rhs = core_[u].rhs;
      for_each_operand(rhs, [&](ValueId& o) { o = at_offset(o, s); });
      return delayed_[key] = add(std::move(rhs), core_[u], clock_at(clock_of(u), s));
    }
    if (starts_.contains(u)) {
      // Marks the first instant of the late clock.
      const ClockId clock = clock_at(clock_of(u), s);
      const ValueId init = constant(Tensor::boolean(true), u, clock);
      const ValueId next = constant(Tensor::boolean(false), u, clock);
      return delayed_[key] = add(core::Fby{init, next}, core_[u], clock);
    }
    const ValueId before = fill(u, at_offset(u, s - 1), s - 1);
    const ValueId delay = add(core::Fby{zero(u, clock_), before}, core_[u], clock_);
    memories_[key] = delay;
    return delayed_[key] = sample(u, delay, s);
  }

  // True for a sample, or an operator on samples, on a clock whose condition looks ahead.
  bool sampled_ahead(ValueId u) const {
    const bool applies = std::holds_alternative<core::Apply>(core_[u].rhs);
    if (applies ? can_fail(core_, u) : !std::holds_alternative<core::When>(core_[u].rhs)) return false;
    return std::ranges::any_of(path(core_[u].clock), [&](ClockId c) {
      return std::holds_alternative<core::Post>(core_[core_[c].condition].rhs) && !offset_.contains(core_[c].condition);
    });
  }

  // x, which is u at offset s, on the full clock K; zero where absent.
  ValueId fill(ValueId u, ValueId x, int s) {
    const std::vector<ClockId> p = path(clock_of(u));
    for (auto c = p.rbegin(); c != p.rend(); ++c) {
      const Clock step = core_[*c];
      x = padded(at_offset(step.condition, s), step.positive, x, u);
    }
    return s == 0 ? x : padded(active(s), true, x, u);
  }
  ValueId padded(ValueId condition, bool positive, ValueId x, ValueId like) {
    const ClockId clock = core_[condition].clock;
    const ValueId none = zero(like, sampled(clock, condition, !positive));
    return add(core::Merge{condition, positive ? x : none, positive ? none : x}, core_[like], clock);
  }

  // Samples x, which is on K, to u's clock at offset s.
  ValueId sample(ValueId u, ValueId x, int s) {
    ClockId clock = clock_;
    auto step = [&](ValueId condition, bool positive) {
      clock = sampled(clock, condition, positive);
      x = add(core::When{x, condition, positive}, core_[u], clock);
    };
    if (s > 0) step(active(s), true);
    for (ClockId c : path(clock_of(u))) {
      const Clock sampling = core_[c];
      step(at_offset(sampling.condition, s), sampling.positive);
    }
    return x;
  }

  core::Rhs define(ValueId v, int r) {
    core::Rhs rhs = original_.at(v);
    if (const auto* p = std::get_if<core::Post>(&rhs)) {
      const ValueId u = p->operand;
      const ValueId full = fill(u, at_offset(u, r - 1), r - 1);
      return core::When{full, active(r), true};
    }
    if (const auto* f = std::get_if<core::Fby>(&rhs)) return define_fby(*f, v, r);
    for_each_operand(rhs, [&](ValueId& o) { o = at_offset(o, r); });
    return rhs;
  }

  // The memory that keeps a parameter from step to step: the retimed parameter itself if it is a
  // `fby`, otherwise the delay of it.
  ValueId memory_of(ValueId parameter) const {
    const ValueId late = late_.at(parameter);
    if (std::holds_alternative<core::Fby>(core_[late].rhs)) return late;
    const auto delay = memories_.find({parameter, offset_.at(parameter) + 1});
    return delay == memories_.end() ? late : delay->second;
  }

  core::Rhs define_fby(const core::Fby& f, ValueId v, int r) {
    const auto next = offset_.find(f.next);
    const int own = next == offset_.end() ? 0 : next->second;
    const ValueId init = at_offset(f.init, r);
    if (own <= r) return core::Fby{init, at_offset(f.next, r)};
    // The operand is computed at the same step, so no memory is needed.
    const ValueId started = active(r + 1);
    const ClockId late = sampled(clock_, started, true);
    const ClockId early = sampled(clock_, started, false);
    ValueId first = init;
    if (!core_.is_const(init)) {
      const ValueId full = fill(f.init, init, r);
      first = add(core::When{full, started, false}, core_[v], early);
    }
    ValueId now = at_offset(f.next, r + 1);
    if (core_.is_const(now)) now = add(core::When{now, started, true}, core_[v], late);
    const ValueId both = add(core::Merge{started, now, first}, core_[v], clock_);
    if (r == 0) return core_[both].rhs;
    return core::When{both, active(r), true};
  }

  // Redefines v for its users in other components: r instants of lookahead undo r steps of delay.
  void recover(ValueId v) {
    const int r = offset_.at(v);
    ValueId x = fill(v, late_.at(v), r);
    const std::vector<ClockId> p = path(original_clock_.at(v));
    for (int i = 0; i < r; ++i) {
      const bool last = i + 1 == r && p.empty();
      if (last)
        core_[v].rhs = core::Post{x};
      else
        x = add(core::Post{x}, core_[v], clock_);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Clock step = core_[p[i]];
      if (i + 1 == p.size())
        core_[v].rhs = core::When{x, step.condition, step.positive};
      else
        x = add(core::When{x, step.condition, step.positive}, core_[v], p[i]);
    }
    core_[late_.at(v)].name.clear();
  }

  Core& core_;
  ClockId clock_;
  std::vector<ValueId> members_;
  std::map<ValueId, int> offset_;
  std::map<ValueId, bool> starts_;
  std::map<ValueId, core::Rhs> original_;
  std::map<ValueId, ClockId> original_clock_;
  std::map<ValueId, ValueId> late_;
  std::map<int, ValueId> active_;
  // `delayed_`: at_offset(u, s), by u and s; `memories_`: the memory of such a value on the full clock K.
  std::map<std::pair<ValueId, int>, ValueId> delayed_, memories_;
};

}  // namespace

Core retime(Core core) {
  const auto is_post = [](const Value& v) { return std::holds_alternative<core::Post>(v.rhs); };
  if (std::ranges::none_of(core.values, is_post)) return core;
  // One analysis serves all components: each rewriting leaves the other components unchanged and keeps all numbers.
  const Core before = core;
  const DependenceGraph graph(before);
  const Components components = find_components(graph);
  bool any = false;
  for (std::uint32_t c = 0; c < components.list.size(); ++c) {
    const Component& component = components.list[c];
    if (!component.cyclic || !has_post(before, component)) continue;
    const Offsets offsets = find_offsets(graph, components, c);
    if (offsets.kind != Offsets::found) continue;
    Retiming(core, component, offsets.by_member).run();
    any = true;
  }
  if (any) core = remove_unreachable(std::move(core));
  return core;
}

}  // namespace rml
