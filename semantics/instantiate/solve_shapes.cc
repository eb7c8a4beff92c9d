// Propagates shapes and static values to a fixed point.
//
// A work list has the values whose operands changed. A cycle begins at a join (fby, merge) with
// an unknown operand: `h = 0.0 fby h + x` starts with the shape of 0.0. Such a join waits until
// nothing else can change, then uses its known operand. Later it grows by broadcasting only, so
// rank and extents limit the number of changes:
//
//   h: []      h + x: [4]     h: [4]     h + x: [4]     done
//
// Values between joins may change without bound (`x = zeros([1]) fby concat(x, x)`), so each
// value changes at most max_changes times.
#include "semantics/instantiate/solve_shapes.h"

#include <algorithm>
#include <deque>

#include "semantics/core/components.h"

namespace rml::draft {

namespace {

constexpr std::uint8_t max_changes = 64;

bool is_join(const Rhs& rhs) { return std::holds_alternative<Fby>(rhs) || std::holds_alternative<Merge>(rhs); }

class Propagation {
 public:
  explicit Propagation(const Draft& draft)
      : draft_(draft),
        states_(draft.values.size()),
        rules_(draft, states_),
        changes_(draft.values.size(), 0),
        queued_(draft.values.size(), false) {
    collect_users();
  }

  States run() {
    for (std::uint32_t v = 0; v < states_.size(); ++v) enqueue(DraftId{v});
    do {
      propagate();
    } while (begin_cycles());
    return std::move(states_);
  }

 private:
  void propagate() {
    while (!queue_.empty() || !waiting_.empty()) {
      if (!queue_.empty()) {
        const DraftId d = queue_.front();
        queue_.pop_front();
        queued_[d.index] = false;
        visit(d, false);
      } else {
        const DraftId d = waiting_.front();
        waiting_.pop_front();
        visit(d, true);
      }
    }
  }

  // A cycle without a join, such as `o = post u; u = o + 1`, begins with the broadcast of its
  // known operands, or a scalar. A cycle of joins without known operands, `l = x fby x; x = l`,
  // does too, but later: its values need themselves wherever they are present. False if there was
  // no cycle.
  bool begin_cycles() {
    return begin_cycles([](const Rhs& rhs) {
             const auto* apply = std::get_if<Apply>(&rhs);
             const bool pointwise = apply != nullptr && operators()[apply->op].lowering == Lowering::elementwise;
             return pointwise || std::holds_alternative<Post>(rhs);
           }) ||
           begin_cycles(is_join);
  }

  template <class Begins>
  bool begin_cycles(Begins&& begins) {
    std::uint32_t found = 0;
    const auto component = strong_components(
        states_.size(),
        [&](std::uint32_t v, auto&& f) {
          if (states_[v].known) return;
          for (std::uint32_t k = first_user_[v]; k < first_user_[v + 1]; ++k)
            if (!states_[users_[k].index].known) f(users_[k].index);
        },
        found);
    std::vector<std::uint32_t> size(found);
    for (std::uint32_t v = 0; v < states_.size(); ++v) ++size[component[v]];
    bool any = false;
    for (std::uint32_t v = 0; v < states_.size(); ++v) {
      const Rhs& rhs = draft_.values[v].rhs;
      const bool self = std::any_of(users_.begin() + first_user_[v], users_.begin() + first_user_[v + 1],
                                    [&](DraftId user) { return user.index == v; });
      if (states_[v].known || (size[component[v]] < 2 && !self)) continue;
      if (!begins(rhs)) continue;
      size[component[v]] = 0;  // only one value of a cycle may begin with an assumed shape
      Shape shape;
      for_each_mention(rhs, [&](DraftId d) {
        if (!states_[d.index].known) return;
        if (auto both = broadcast(shape, states_[d.index].shape)) shape = std::move(*both);
      });
      states_[v] = State{true, std::move(shape), nullptr, true};
      for (std::uint32_t k = first_user_[v]; k < first_user_[v + 1]; ++k) enqueue(users_[k]);
      any = true;
    }
    return any;
  }

  template <class F>
  void for_each_edge(F&& f) const {
    for (std::uint32_t v = 0; v < states_.size(); ++v) {
      const Rhs& rhs = draft_.values[v].rhs;
      if (std::holds_alternative<Alias>(rhs)) continue;
      for_each_mention(rhs, [&](DraftId d) { f(d, DraftId{v}); });
      const auto* result = std::get_if<Result>(&rhs);
      if (result == nullptr) continue;
      if (const auto* iterate = std::get_if<Iterate>(&draft_[result->call].rhs)) {
        for (const DraftId d : iterate->operands) f(d, DraftId{v});
        continue;
      }
      const auto& call = std::get<Call>(draft_[result->call].rhs);
      for (const DraftId d : draft_.externals[call.external].output_shapes[result->output]) f(d, DraftId{v});
    }
  }

  void collect_users() {
    first_user_.assign(states_.size() + 1, 0);
    for_each_edge([&](DraftId of, DraftId) { ++first_user_[of.index + 1]; });
    for (std::size_t v = 1; v < first_user_.size(); ++v) first_user_[v] += first_user_[v - 1];
    users_.resize(first_user_.back());
    std::vector<std::uint32_t> next(first_user_.begin(), first_user_.end() - 1);
    for_each_edge([&](DraftId of, DraftId user) { users_[next[of.index]++] = user; });
  }

  void enqueue(DraftId d) {
    if (queued_[d.index] || std::holds_alternative<Alias>(draft_[d].rhs)) return;
    queued_[d.index] = true;
    queue_.push_back(d);
  }

  void visit(DraftId d, bool go_ahead) {
    State next = is_join(draft_[d].rhs) ? join(d, go_ahead) : by_rule(d);
    if (!next.known) return;
    State& state = states_[d.index];
    const bool reshaped = !state.known || state.shape != next.shape;
    if (reshaped) {
      if (changes_[d.index] == max_changes) return;
      ++changes_[d.index];
      state = std::move(next);
      state.constant = nullptr;
    }
    std::shared_ptr<const Tensor> constant = rules_.constant(d);
    const bool same = (constant == nullptr) == (state.constant == nullptr) &&
                      (constant == nullptr || constant == state.constant || *constant == *state.constant);
    if (!same) state.constant = std::move(constant);
    if (reshaped || !same)
      for (std::uint32_t k = first_user_[d.index]; k < first_user_[d.index + 1]; ++k) enqueue(users_[k]);
  }

  State by_rule(DraftId d) const {
    Outcome<Shape> found = rules_.shape(d);
    // In a recurrence of adjoints, the operand's shape may depend on this result.
    if (!std::holds_alternative<Shape>(found)) found = rules_.target(d);
    const auto* shape = std::get_if<Shape>(&found);
    return shape != nullptr ? State{true, *shape, nullptr} : State{};
  }

  // The broadcast of the known operands and of the join's previous shape.
  State join(DraftId d, bool go_ahead) {
    State next{states_[d.index].known, states_[d.index].shape, nullptr};
    DraftId a, b;
    if (const auto* fby = std::get_if<Fby>(&draft_[d].rhs)) {
      a = fby->init;
      b = fby->next;
    } else {
      const auto& merge = std::get<Merge>(draft_[d].rhs);
      a = merge.on_true;
      b = merge.on_false;
    }
    const bool partial = !states_[a.index].known || !states_[b.index].known;
    if (partial && !next.known && !go_ahead) {
      if (states_[a.index].known || states_[b.index].known) waiting_.push_back(d);
      return {};
    }
    for (const DraftId operand : {a, b}) {
      const State& o = states_[operand.index];
      if (!o.known) continue;
      if (!next.known) {
        next.known = true;
        next.shape = o.shape;
      } else if (auto both = broadcast(next.shape, o.shape); both && element_count(*both)) {
        next.shape = std::move(*both);
      }
    }
    return next;
  }

  const Draft& draft_;
  States states_;
  ShapeRules rules_;
  std::vector<std::uint8_t> changes_;
  std::vector<bool> queued_;
  std::deque<DraftId> queue_, waiting_;
  std::vector<std::uint32_t> first_user_;
  std::vector<DraftId> users_;
};

}  // namespace

States solve_shapes(const Draft& draft, const Program& program, Diagnostics& diagnostics) {
  States states = Propagation(draft).run();
  check_shapes(draft, program, states, diagnostics);
  return states;
}

}  // namespace rml::draft
