// Conditions that hold at all instants, or at none (part of simplify).
//
// Each Boolean starts as unknown. Known truths propagate from operands to users, through delays
// and look-ahead, until nothing changes. A Boolean that is then a constant is constant at run
// time: if it differed at some instant, it would have computed this from an operand that differs,
// and each computation has finitely many steps.
//
//   %2 = post %4      %3 = merge end T %2      %4 = merge %3 T %5            %3 and %4 are T
//
// The same holds for comparisons of numbers that never change: backfill(1.0, c) > 0.5. Gradients
// need this pass for conditions such as "an adjoint is present here, or at the next instant of
// the segment".
//
// Values that depend on themselves may be on clocks that never tick. Folding may then leave a
// cycle without a choice, on which a walk along operands would not end. So such clocks are
// replaced by never:
//
//   c = (p or q) and (not p and not q);  a: i32 when c = if u then a + 1 else a + 1;         c is F
#include <algorithm>

#include "semantics/core/components.h"
#include "semantics/core/queries.h"
#include "semantics/simplify/instant_truth.h"
#include "semantics/simplify/passes.h"
#include "semantics/values/truth.h"

namespace rml {

namespace {

// The only constant that v can be, through all branches and delays; invalid if there is none.
ValueId only_constant(const Core& core, ValueId v) {
  const core::Rhs& own = core[v].rhs;
  if (core.is_const(v)) return v;
  if (std::holds_alternative<core::Apply>(own) || std::holds_alternative<core::Input>(own)) return {};
  constexpr std::size_t most = 64;
  std::vector<ValueId> seen{v};
  ValueId constant{};
  for (std::size_t k = 0; k < seen.size(); ++k) {
    const core::Rhs& rhs = core[seen[k]].rhs;
    if (core.is_const(seen[k])) {
      if (constant.valid() && constant_key(std::get<core::Const>(core[constant].rhs).value) !=
                                  constant_key(std::get<core::Const>(rhs).value))
        return {};
      constant = seen[k];
      continue;
    }
    std::vector<ValueId> passed_on;
    if (const auto* w = std::get_if<core::When>(&rhs))
      passed_on = {w->operand};
    else if (const auto* m = std::get_if<core::Merge>(&rhs))
      passed_on = {m->on_true, m->on_false};
    else if (const auto* f = std::get_if<core::Fby>(&rhs))
      passed_on = {f->init, f->next};
    else if (const auto* p = std::get_if<core::Post>(&rhs))
      passed_on = {p->operand};
    if (passed_on.empty() || seen.size() > most) return {};
    for (const ValueId o : passed_on)
      if (std::ranges::find(seen, o) == seen.end()) seen.push_back(o);
  }
  return constant;
}

class Truths {
 public:
  explicit Truths(const Core& core) : core_(core), found_(core.values.size(), Truth::unseen), uses_(core) {}

  std::vector<Truth> run() {
    for (std::uint32_t v = static_cast<std::uint32_t>(found_.size()); v-- > 0;)
      if (boolean(v)) work_.push_back(v);
    settle();
    // A value that is never computed must be reported as an error, so it does not count as
    // constant.
    for (std::uint32_t v = 0; v < found_.size(); ++v)
      if (boolean(v) && found_[v] == Truth::unseen) set(v, Truth::varies);
    settle();
    return std::move(found_);
  }

 private:
  bool boolean(std::uint32_t v) const {
    return core_.values[v].dtype == DType::boolean && core_.values[v].shape.empty();
  }
  void settle() {
    while (!work_.empty()) {
      const std::uint32_t v = work_.back();
      work_.pop_back();
      if (found_[v] == Truth::varies) continue;
      if (const Truth now = evaluate(v); now != found_[v]) set(v, now);
    }
  }
  void set(std::uint32_t v, Truth truth) {
    found_[v] = truth;
    for (const ValueId user : uses_.of(ValueId{v}))
      if (boolean(user.index)) work_.push_back(user.index);
  }

  Truth at(ValueId v) const { return found_[v.index]; }

  Truth evaluate(std::uint32_t v) const {
    const core::Rhs& rhs = core_.values[v].rhs;
    if (const auto* c = std::get_if<core::Const>(&rhs)) return truth_of(c->value.truth());
    if (const auto* w = std::get_if<core::When>(&rhs))
      return same_but_at_start(v, w->operand) ? truth_of(core_[core_.values[v].clock].positive) : at(w->operand);
    if (const auto* f = std::get_if<core::Fby>(&rhs)) return join(at(f->init), at(f->next));
    if (const auto* p = std::get_if<core::Post>(&rhs)) return at(p->operand);
    if (const auto* m = std::get_if<core::Merge>(&rhs))
      return choice(at(m->condition), at(m->on_true), at(m->on_false));
    if (const auto* a = std::get_if<core::Apply>(&rhs)) return apply(v, *a);
    return Truth::varies;
  }

  // x when p or x when not p: p and x delay the same value, and the sampling excludes the first
  // instant, so x equals p there.
  //
  //   p = fby T c;  x = fby F c;  y = x when not p                                       y is F
  bool same_but_at_start(std::uint32_t v, ValueId operand) const {
    const Clock& clock = core_[core_.values[v].clock];
    const auto* p = std::get_if<core::Fby>(&core_[clock.condition].rhs);
    const auto* x = std::get_if<core::Fby>(&core_[operand].rhs);
    return p != nullptr && x != nullptr && p->next == x->next && core_[clock.condition].clock == core_[operand].clock &&
           core_.is_const(p->init) && std::get<core::Const>(core_[p->init].rhs).value.truth() != clock.positive;
  }

  Truth apply(std::uint32_t v, const core::Apply& a) const {
    const ScalarOp op = operators()[a.op].scalar;
    if (op == ScalarOp::logical_not) return negated(at(a.operands[0]));
    if (op != ScalarOp::logical_and && op != ScalarOp::logical_or) {
      const auto truth = settled_truth(core_, core_.values[v], a);
      return truth ? truth_of(*truth) : Truth::varies;
    }
    return connective(at(a.operands[0]), at(a.operands[1]), truth_of(op == ScalarOp::logical_or));
  }

  const Core& core_;
  std::vector<Truth> found_;
  const Uses uses_;
  std::vector<std::uint32_t> work_;  // values to be evaluated again
};

// Calls f(operand) for each operand needed within the instant.
template <class F>
void for_each_need(const core::Rhs& rhs, F&& f) {
  if (!std::holds_alternative<core::Fby>(rhs) && !std::holds_alternative<core::Post>(rhs)) for_each_operand(rhs, f);
}

// The clocks, except base, of values that may depend on themselves.
std::vector<ClockId> clocks_of_rings(const Core& core) {
  bool in_order = true;
  std::vector<bool> itself(core.values.size(), false);
  for (std::uint32_t v = 0; v < core.values.size(); ++v)
    for_each_need(core.values[v].rhs, [&](ValueId o) {
      in_order = in_order && o.index < v;
      itself[v] = itself[v] || o.index == v;
    });
  if (in_order) return {};
  std::uint32_t found = 0;
  const auto component = strong_components(
      core.values.size(),
      [&](std::uint32_t v, auto&& f) { for_each_need(core.values[v].rhs, [&](ValueId o) { f(o.index); }); }, found);
  std::vector<std::uint32_t> size(found, 0);
  for (const std::uint32_t c : component) ++size[c];
  std::vector<ClockId> clocks;
  for (std::uint32_t v = 0; v < core.values.size(); ++v)
    if (core.values[v].clock.index >= 2 && (itself[v] || size[component[v]] > 1))
      clocks.push_back(core.values[v].clock);
  std::ranges::sort(clocks);
  clocks.erase(std::ranges::unique(clocks).begin(), clocks.end());
  return clocks;
}

// Decides whether a formula is false for all values of its letters; gives up after a limited
// number of evaluations.
class Search {
 public:
  Search(const Formulas& formulas, Formulas::Formula formula)
      : formulas_(formulas),
        formula_(formula),
        cone_(formulas.cone({&formula, 1})),
        values_(formulas.size(), Truth::unseen) {}

  bool never() {
    if (evaluations_ == 0) return false;
    --evaluations_;
    formulas_.evaluate(cone_, values_);
    const Truth truth = Formulas::value(formula_, values_);
    if (is_known(truth)) return truth == Truth::no;
    const std::uint32_t letter = formulas_.undecided(formula_, values_);
    if (letter == 0) return false;
    bool none = true;
    for (const Truth decided : {Truth::yes, Truth::no}) {
      values_[letter] = decided;
      none = none && never();
    }
    values_[letter] = Truth::unseen;
    return none;
  }

 private:
  const Formulas& formulas_;
  const Formulas::Formula formula_;
  const std::vector<std::uint32_t> cone_;
  std::vector<Truth> values_;
  std::uint32_t evaluations_ = 5000;
};

}  // namespace

bool stop_rings(Core& core) {
  const std::vector<ClockId> clocks = clocks_of_rings(core);
  if (clocks.empty()) return false;
  InstantTruth truth(core);
  std::vector<Clock> never;  // the outermost of the clocks that never tick
  for (const ClockId clock : clocks) {
    const std::vector<ClockId> path = path_to(core, clock);
    const auto first = std::ranges::find_if(path, [&](ClockId c) {
      const Formulas::Formula ticks = truth.ticks(c);
      return Search(truth.formulas(), ticks).never();
    });
    if (first != path.end()) never.push_back(core[*first]);
  }
  bool changed = false;
  for (const Clock& clock : never) {
    changed = changed || !core.is_const(clock.condition);
    core[clock.condition].rhs = core::Const{Tensor::boolean(!clock.positive)};
  }
  return changed;
}

std::optional<bool> settled_truth(const Core& core, const Value& value, const core::Apply& apply) {
  std::vector<ValueId> constants;
  for (const ValueId operand : apply.operands) {
    constants.push_back(only_constant(core, operand));
    if (!constants.back().valid()) return std::nullopt;
  }
  const auto result = evaluate_constants(core, value, {apply.op, std::move(constants), apply.attributes, apply.key});
  return result && result->shape().empty() ? std::optional(result->truth()) : std::nullopt;
}

std::vector<Truth> steady_truths(const Core& core) { return Truths(core).run(); }

bool find_truths(Core& core) {
  const std::vector<Truth> found = steady_truths(core);
  bool changed = false;
  for (std::uint32_t v = 0; v < found.size(); ++v) {
    if (!is_known(found[v]) || core.is_const(ValueId{v})) continue;
    core.values[v].rhs = core::Const{Tensor::boolean(found[v] == Truth::yes)};
    changed = true;
  }
  return changed;
}

}  // namespace rml
