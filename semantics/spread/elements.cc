// Marks everything that may differ between elements: the sequences' elements, and all values that depend on them.
#include "semantics/spread/elements.h"

#include <algorithm>

#include "semantics/core/joint.h"
#include "semantics/core/queries.h"

namespace rml::mapped {

bool is_over_elements(OperatorId op) {
  static const OperatorId over = operators().require("sum_over_elements");
  return op == over || is_over_sharers(op);
}

bool is_over_sharers(OperatorId op) {
  static const OperatorId over = operators().require("sum_over_sharers");
  return op == over;
}

Elements::Elements(const Core& body, std::size_t sequences)
    : body_(body),
      values_(body.values.size(), false),
      clocks_(body.clocks.size(), false),
      values_on_(body.clocks.size()),
      sampled_by_(body.values.size()),
      within_(body.clocks.size()) {
  for (std::size_t v = 0; v < body.values.size(); ++v) values_on_[body.values[v].clock.index].push_back(ValueId{v});
  for (std::size_t c = 2; c < body.clocks.size(); ++c) {
    sampled_by_[body.clocks[c].condition.index].push_back(ClockId{c});
    within_[body.clocks[c].parent.index].push_back(ClockId{c});
  }
  for (std::size_t k = 0; k < sequences; ++k) mark(body.inputs[k].value);
  spread();
  while (mark_what_is_drawn()) spread();
}

// Marks random draws as different, except those in the initial value of a parameter that is the
// same for all. The initial value of a parameter that differs is marked too, which may mark
// further values. True if any value was marked.
bool Elements::mark_what_is_drawn() {
  std::vector<ValueId> begins;
  for (const Parameter& p : body_.parameters) {
    const auto* held = std::get_if<core::Fby>(&body_[p.value].rhs);
    if (held == nullptr) continue;
    if (differs(p.value))
      mark(held->init);
    else
      begins.push_back(held->init);
  }
  const std::vector<bool> drawn_once = reachable(body_, std::move(begins));
  for (std::size_t v = 0; v < body_.values.size(); ++v) {
    const core::Apply* apply = apply_of(body_, ValueId{v});
    if (apply != nullptr && operators()[apply->op].random && !drawn_once[v]) mark(ValueId{v});
  }
  return !work_.empty();
}

void Elements::mark(ValueId v) {
  if (values_[v.index] || body_.is_const(v)) return;
  values_[v.index] = true;
  work_.push_back(v);
}

void Elements::mark(ClockId c) {
  std::vector<ClockId> pending = {c};
  while (!pending.empty()) {
    const ClockId at = pending.back();
    pending.pop_back();
    if (clocks_[at.index]) continue;
    clocks_[at.index] = true;
    for (const ValueId v : values_on_[at.index]) mark(v);
    pending.insert(pending.end(), within_[at.index].begin(), within_[at.index].end());
  }
}

void Elements::spread() {
  const Uses uses(body_);
  while (!work_.empty()) {
    const ValueId v = work_.back();
    work_.pop_back();
    for (const ClockId c : sampled_by_[v.index]) mark(c);
    for (const ValueId user : uses.of(v)) {
      const core::Apply* apply = apply_of(body_, user);
      if (apply == nullptr || !is_over_elements(apply->op) || (differs(apply->operands[0]) && is_own(*apply)))
        mark(user);
    }
  }
}

bool Elements::is_own(const core::Apply& over) const { return is_over_sharers(over.op) && differs(over.operands[1]); }

ClockId Elements::home(ClockId c) const {
  while (differs(c)) c = body_[c].parent;
  return c;
}

bool reads_what_is_behind(const Core& body, ValueId v) {
  const core::Rhs& rhs = body[v].rhs;
  if (std::holds_alternative<core::Fby>(rhs) || std::holds_alternative<core::Post>(rhs)) return false;
  bool found = false;
  for_each_operand(rhs, [&](ValueId o) { found = found || (o.index >= v.index && !body.is_const(o)); });
  return found;
}

bool lives_in_time(const Core& body) {
  if (!std::ranges::all_of(body.parameters, &Parameter::is_stopped) || !body.asserts.empty()) return true;
  return std::ranges::any_of(body.values, [](const rml::Value& v) {
    const auto* apply = std::get_if<core::Apply>(&v.rhs);
    return std::holds_alternative<core::Fby>(v.rhs) || std::holds_alternative<core::Post>(v.rhs) ||
           (apply != nullptr && (operators()[apply->op].random || is_over_elements(apply->op) || is_joint(apply->op)));
  });
}

std::optional<Obstacle> find_obstacle(const Core& body, const Elements& elements) {
  for (std::size_t v = 0; v < body.values.size(); ++v) {
    const core::Apply* apply = apply_of(body, ValueId{v});
    const Span at = body.values[v].span;
    if (std::holds_alternative<core::Post>(body.values[v].rhs) && elements.differs(body.values[v].clock))
      return Obstacle{"looks ahead at cycles that differ between elements", at,
                      "use a condition that is the same for all elements, passed after the `;`"};
    if (apply == nullptr) continue;
    if (is_joint(apply->op) && elements.differs(ValueId{v}))
      return Obstacle{"sums over parameters a value that differs between elements", at,
                      "compute the sum before the `map` and pass it as an argument"};
    if (is_over_elements(apply->op) && elements.differs(body.values[v].clock))
      return Obstacle{"sums over elements that are not all present at the same cycles", at,
                      "use 0 for an element that is absent: `merge c x 0.0`"};
    if (elements.differs(ValueId{v}) && operators()[apply->op].drawn_whole)
      return Obstacle{"draws an orthogonal matrix for each element", at,
                      "draw the matrices before the `map` and pass them as a sequence"};
  }
  for (const Parameter& p : body.parameters) {
    const Span at = body[p.value].span;
    if (!p.is_stopped() && elements.differs(body[p.value].clock))
      return Obstacle{"has a `param` at cycles where not all elements are present", at,
                      "define it at every cycle and sample it: `k = param(…);  … (k when c) …`"};
  }
  return std::nullopt;
}

}  // namespace rml::mapped
