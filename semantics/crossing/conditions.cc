// Makes cells by recursion of bounded depth over definitions within an instant. Operands of
// memories and posts are processed in close(), so recurrences need no special treatment.
#include "semantics/crossing/conditions.h"

#include <algorithm>

#include "semantics/core/components.h"
#include "semantics/core/queries.h"
#include "semantics/crossing/alike.h"
#include "semantics/crossing/simulate.h"

namespace rml {

namespace {

// Nesting depth of definitions; deeper values become letters, which may have either value.
constexpr int max_depth = 500;
// Limit on the number of memories that are followed, except starts of clocks.
constexpr std::size_t max_followed = 8;
constexpr std::int64_t followed_cycles = 600;  // limit on running a condition without inputs

}  // namespace

Conditions::Conditions(const Core& core) : core_(core) { add({Cell::constant, no, no, no}); }

Condition Conditions::add(Cell cell) {
  cells_.push_back(cell);
  return {static_cast<std::uint32_t>(cells_.size() - 1) << 1};
}

Condition Conditions::both(Condition a, Condition b) {
  if (a == no || b == no || a == !b) return no;
  if (a == yes || a == b) return b;
  if (b == yes) return a;
  // Keeps the order of a and b: whether b has a value may depend on a.
  const auto [known, is_new] = conjunctions_.try_emplace(std::uint64_t{a.code} << 32 | b.code);
  if (is_new) known->second = add({Cell::conjunction, a, b, no});
  return known->second;
}

Condition Conditions::choice(Condition condition, Condition on_true, Condition on_false) {
  if (condition == yes || on_true == on_false) return on_true;
  if (condition == no) return on_false;
  if (on_false == no) return both(condition, on_true);
  if (on_true == no) return both(!condition, on_false);
  if (on_false == yes) return !both(condition, !on_true);
  if (on_true == yes) return !both(!condition, !on_false);
  return add({Cell::choice, condition, on_true, on_false});
}

Condition Conditions::holds(ValueId v) {
  if (const auto truth = constant_truth(core_, v)) return *truth ? yes : no;
  const auto [known, is_new] = known_.try_emplace(v.index, no);
  if (!is_new) return known->second;
  known_[v.index] =
      // The result for a value that depends on itself: recursion finds this letter.
      add({.kind = Cell::letter, .a = no, .b = no, .c = no, .value = v});
  ++depth_;
  const Condition found = depth_ > max_depth ? letter(v) : define(v);
  --depth_;
  return known_[v.index] = found;
}

Condition Conditions::define(ValueId v) {
  const core::Rhs& rhs = core_[v].rhs;
  if (const auto* w = std::get_if<core::When>(&rhs)) return holds(w->operand);
  if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    const Condition condition = holds(m->condition), on_true = holds(m->on_true);
    return choice(condition, on_true, holds(m->on_false));
  }
  if (const auto* f = std::get_if<core::Fby>(&rhs)) {
    if (is_start(core_, v)) return begins(core_[v].clock);
    // `init fby post x` is x at all instants but the first.
    const auto* undone = std::get_if<core::Post>(&core_[f->next].rhs);
    if (undone == nullptr) return memory(v);
    const Condition first = holds(f->init);
    return choice(begins(core_[v].clock), first, holds(undone->operand));
  }
  if (const auto* p = std::get_if<core::Post>(&rhs)) {
    const auto* undone = std::get_if<core::Fby>(&core_[p->operand].rhs);
    return undone != nullptr ? holds(undone->next) : ahead(v);
  }
  if (const auto* a = apply_of(core_, v)) return apply(v, *a);
  return letter(v);
}

Condition Conditions::apply(ValueId v, const core::Apply& a) {
  if (!std::ranges::all_of(a.operands, [&](ValueId o) { return boolean(o); })) return letter(v);
  const auto operand = [&](std::size_t k) { return holds(a.operands[k]); };
  switch (operators()[a.op].scalar) {
    case ScalarOp::logical_not:
      return !operand(0);
    case ScalarOp::logical_and: {
      const Condition left = operand(0);
      return both(left, operand(1));
    }
    case ScalarOp::logical_or: {
      const Condition left = operand(0);
      return either(left, operand(1));
    }
    case ScalarOp::eq:
    case ScalarOp::ne: {
      const Condition left = operand(0), right = operand(1), same = choice(left, right, !right);
      return operators()[a.op].scalar == ScalarOp::eq ? same : !same;
    }
    case ScalarOp::select: {
      const Condition condition = operand(0), on_true = operand(1);
      return choice(condition, on_true, operand(2));
    }
    case ScalarOp::identity:
    case ScalarOp::cast:
      return operand(0);
    default:
      return letter(v);
  }
}

// A letter (it may have either value at any instant), unless the value depends on no input and soon repeats.
Condition Conditions::letter(ValueId v) {
  if (std::holds_alternative<core::Input>(core_[v].rhs)) return known_.at(v.index);
  if (bound_.empty()) find_bound();
  if (!bound_[v.index] && core_[v].clock == base_clock)
    if (std::optional<Lasso> lasso = find_lasso(core_, v, followed_cycles)) {
      lassos_.push_back(std::move(*lasso));
      return add({.kind = Cell::repeated,
                  .a = no,
                  .b = no,
                  .c = no,
                  .index = static_cast<std::uint32_t>(lassos_.size() - 1),
                  .value = v});
    }
  return known_.at(v.index);
}

Condition Conditions::memory(ValueId v) {
  if (followed_ >= max_followed) return letter(v);
  ++followed_;
  const Condition present = ticks(core_[v].clock);
  const Condition made = add({.kind = Cell::memory, .a = no, .b = no, .c = no, .present = present, .value = v});
  open_.push_back(made.cell());
  return made;
}

Condition Conditions::ahead(ValueId v) {
  const ValueId operand = std::get<core::Post>(core_[v].rhs).operand;
  if (const auto truth = constant_truth(core_, operand)) return *truth ? yes : no;
  if (core_[v].clock != base_clock) return letter(v);
  const Condition made = add({.kind = Cell::ahead, .a = no, .b = no, .c = no, .value = v});
  open_.push_back(made.cell());
  return made;
}

Condition Conditions::ticks(ClockId clock) {
  if (clock == base_clock || !clock.valid()) return yes;
  if (clock == never_clock) return no;
  Condition found = yes;
  for (const ClockId c : path_to(core_, clock)) {
    const auto [known, is_new] = ticks_.try_emplace(c.index, no);
    if (is_new) {
      const Condition holds_now = holds(core_[c].condition);
      ticks_[c.index] = both(found, core_[c].positive ? holds_now : !holds_now);
    }
    found = ticks_.at(c.index);
  }
  return found;
}

// A memory that is true at the first instant of the clock and false afterwards.
Condition Conditions::begins(ClockId clock) {
  if (const auto known = begins_.find(clock.index); known != begins_.end()) return known->second;
  const Condition present = ticks(clock);
  const Condition made = add({.kind = Cell::memory, .a = yes, .b = no, .c = no, .present = present});
  return begins_[clock.index] = made;
}

ClockId Conditions::begun(std::uint32_t cell) const {
  for (const auto& [clock, begins] : begins_)
    if (leader(begins).cell() == cell) return ClockId{clock};
  return {};
}

void Conditions::close() {
  while (!open_.empty()) {
    const std::uint32_t at = open_.back();
    open_.pop_back();
    const core::Rhs& rhs = core_[cells_[at].value].rhs;
    if (const auto* f = std::get_if<core::Fby>(&rhs)) {
      const Condition first = holds(f->init), later = holds(f->next);
      cells_[at].a = first;
      cells_[at].b = later;
    } else {
      const Condition next = holds(std::get<core::Post>(rhs).operand);
      cells_[at].a = next;
    }
  }
  free_contradictions();
  find_leaders();
}

void Conditions::find_leaders() {
  leaders_ = first_alike(cells_.size(), [&](std::uint32_t n, auto&& class_of, std::vector<std::uint32_t>& words) {
    const Cell& c = cells_[n];
    words.push_back(c.kind);
    const bool known_by_value = c.kind == Cell::letter || c.kind == Cell::repeated;
    words.push_back(known_by_value ? c.value.index : 0);
    for (const Condition o : {c.a, c.b, c.c, c.present}) {
      words.push_back(class_of(o.cell()));
      words.push_back(o.code & 1);
    }
  });
}

// Marks the values that depend on inputs, draws, calls or posts.
void Conditions::find_bound() {
  bound_.assign(core_.values.size(), false);
  const Uses uses(core_);
  std::vector<ValueId> work;
  for (std::uint32_t i = 0; i < core_.values.size(); ++i) {
    const core::Rhs& rhs = core_.values[i].rhs;
    const auto* a = std::get_if<core::Apply>(&rhs);
    const bool drawn =
        a != nullptr && (operators()[a->op].random || operators()[a->op].lowering == Lowering::parameter);
    if (drawn || std::holds_alternative<core::Input>(rhs) || std::holds_alternative<core::Call>(rhs) ||
        std::holds_alternative<core::Post>(rhs))
      work.emplace_back(i);
  }
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (bound_[v.index]) continue;
    bound_[v.index] = true;
    for (const ValueId user : uses.of(v)) work.push_back(user);
  }
}

// No run has a condition such as `c = post (false fby not c)`: makes letters of its memories.
void Conditions::free_contradictions() {
  std::uint32_t found = 0;
  const auto component = strong_components(
      cells_.size(),
      [&](std::uint32_t cell, auto&& f) {
        const Cell& c = cells_[cell];
        for (const Condition o : {c.a, c.b, c.c, c.present})
          if (o.cell() != 0) f(o.cell());
      },
      found);
  std::vector<bool> looks_ahead(found), cyclic(found);
  std::vector<std::uint32_t> size(found);
  for (std::uint32_t c = 0; c < cells_.size(); ++c) {
    if (cells_[c].kind == Cell::ahead) looks_ahead[component[c]] = true;
    cyclic[component[c]] = ++size[component[c]] > 1;
  }
  for (std::uint32_t c = 0; c < cells_.size(); ++c)
    if (cells_[c].kind == Cell::memory && cyclic[component[c]] && looks_ahead[component[c]])
      cells_[c].kind = Cell::letter;
}

}  // namespace rml
