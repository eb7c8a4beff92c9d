// Builds the formulas by recursion of bounded depth, each value once per instant.
#include "semantics/simplify/instant_truth.h"

#include <algorithm>
#include <cstring>

#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"

namespace rml {

namespace {

// Nesting depth of definitions; deeper values become letters, which may have either value.
constexpr int max_depth = 10'000;
constexpr int max_shift = 2;  // limit on the number of instants before or after the current one

template <class T>
void append(std::string& text, const T& part) {
  text.append(reinterpret_cast<const char*>(&part), sizeof part);
}

void append(std::string& text, const Attribute& a) {
  append(text, a.integers.size());
  for (const std::int64_t i : a.integers) append(text, i);
  append(text, a.number);
  append(text, a.dtype);
  append(text, a.given);
  append(text, a.scalar);
  text += a.text + '\0';
}

// Counts one level of recursion.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(++depth) {}
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth_; }

 private:
  int& depth_;
};

}  // namespace

InstantTruth::InstantTruth(const Core& core) : core_(core), steady_(steady_truths(core)) {}

InstantTruth::Formula InstantTruth::holds(ValueId v, const When& at) {
  if (const auto truth = constant_truth(core_, v)) return *truth ? Formulas::yes : Formulas::no;
  if (is_known(steady_[v.index])) return steady_[v.index] == Truth::yes ? Formulas::yes : Formulas::no;
  const auto [known, is_new] = known_.try_emplace(key(v.index, at));
  if (!is_new) {
    Known& k = known->second;
    if (!k.complete && !k.variable) k = {formulas_.variable(), false, true};
    return k.formula;
  }
  const Deeper level(depth_);
  const Formula formula = depth_ > max_depth ? letter("v" + std::to_string(number(v)), at) : define(v, at);
  Known& k = known_.at(key(v.index, at));
  if (k.variable) formulas_.define(k.formula, formula);
  k = {formula, true, false};
  return formula;
}

InstantTruth::Formula InstantTruth::define(ValueId v, const When& at) {
  const core::Rhs& rhs = core_[v].rhs;
  if (const auto* w = std::get_if<core::When>(&rhs)) return holds(w->operand, at);
  if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    const Formula condition = holds(m->condition, at), on_true = holds(m->on_true, at);
    return formulas_.choice(condition, on_true, holds(m->on_false, at));
  }
  if (const auto* f = std::get_if<core::Fby>(&rhs)) return fby(v, *f, at);
  if (const auto* p = std::get_if<core::Post>(&rhs)) return post(v, *p, at);
  if (const auto* a = apply_of(core_, v)) return apply(v, *a, at);
  return letter("v" + std::to_string(number(v)), at);
}

InstantTruth::Formula InstantTruth::apply(ValueId v, const core::Apply& a, const When& at) {
  const auto operand = [&](std::size_t k) { return holds(a.operands[k], at); };
  const bool booleans = std::ranges::all_of(a.operands, [&](ValueId o) { return boolean(o); });
  switch (operators()[a.op].scalar) {
    case ScalarOp::logical_not:
      if (booleans) return !operand(0);
      break;
    case ScalarOp::logical_and:
    case ScalarOp::logical_or:
      if (booleans) {
        const Formula left = operand(0), right = operand(1);
        return operators()[a.op].scalar == ScalarOp::logical_and ? formulas_.both(left, right)
                                                                 : formulas_.either(left, right);
      }
      break;
    case ScalarOp::select:
      if (booleans) {
        const Formula condition = operand(0), on_true = operand(1);
        return formulas_.choice(condition, on_true, operand(2));
      }
      break;
    case ScalarOp::identity:
    case ScalarOp::cast:
      if (booleans) return operand(0);
      break;
    case ScalarOp::eq:
    case ScalarOp::ne:
      if (booleans) {
        const Formula left = operand(0), same = formulas_.same(left, operand(1));
        return operators()[a.op].scalar == ScalarOp::eq ? same : !same;
      }
      return compare(v, a, at);
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
      return compare(v, a, at);
    default:
      break;
  }
  return letter("v" + std::to_string(number(v)), at);
}

InstantTruth::Formula InstantTruth::compare(ValueId v, const core::Apply& a, const When& at) {
  const Formula then = ordered(v, a, at);
  const auto first = at.shift == 0 ? at_start(v, a) : std::nullopt;
  return first ? formulas_.choice(starts(core_[v].clock, at), *first ? Formulas::yes : Formulas::no, then) : then;
}

// The result of a comparison of delays at their first instant, if they begin with constants.
std::optional<bool> InstantTruth::at_start(ValueId v, const core::Apply& a) const {
  const auto delay = [&](ValueId operand) {
    return core_[operand].clock == core_[v].clock ? std::get_if<core::Fby>(&core_[operand].rhs) : nullptr;
  };
  if (std::ranges::none_of(a.operands, delay)) return std::nullopt;
  core::Apply begun = a;
  for (ValueId& operand : begun.operands)
    if (const auto* fby = delay(operand)) operand = fby->init;
  return settled_truth(core_, core_[v], begun);
}

// x > y is y < x; x >= y is not x < y, except for floats, where both may be false.
InstantTruth::Formula InstantTruth::ordered(ValueId v, const core::Apply& a, const When& at) {
  ValueId left = a.operands[0], right = a.operands[1];
  if (!core_[v].shape.empty() || !core_[left].shape.empty() || !core_[right].shape.empty())
    return letter("v" + std::to_string(number(v)), at);
  const bool total = !is_float(core_[left].dtype);
  const ScalarOp op = operators()[a.op].scalar;
  if (op == ScalarOp::eq) return equals(left, right, at);
  if (op == ScalarOp::ne) return !equals(left, right, at);
  if (op == ScalarOp::gt || op == ScalarOp::ge) std::swap(left, right);
  const bool less = op == ScalarOp::lt || op == ScalarOp::gt;
  const auto letter_of = [&](const char* name, ValueId x, ValueId y) {
    return letter(name + std::to_string(number(x)) + " " + std::to_string(number(y)), at);
  };
  if (less) return letter_of("<", left, right);
  return total ? !letter_of("<", right, left) : letter_of("=<", left, right);
}

// The formula for a = b. An integer equals at most one constant, so two such formulas exclude each
// other.
InstantTruth::Formula InstantTruth::equals(ValueId a, ValueId b, const When& at) {
  if (core_.is_const(a) || (!core_.is_const(b) && number(b) < number(a))) std::swap(a, b);
  const std::string of = "=" + std::to_string(number(a)) + " ", name = of + std::to_string(number(b));
  if (!core_.is_const(b) || is_float(core_[a].dtype)) return letter(name, at);
  std::string place = name, others = of;
  append(place, key(0, at).second);
  append(others, key(0, at).second);
  if (const auto known = letters_.find(place); known != letters_.end()) return known->second;
  const Formula free = formulas_.letter();
  Formula& none = other_.try_emplace(others, Formulas::yes).first->second;
  const Formula is = formulas_.both(none, free);
  none = formulas_.both(none, !free);
  return letters_[place] = is;
}

InstantTruth::Formula InstantTruth::fby(ValueId v, const core::Fby& f, const When& at) {
  const ClockId clock = core_[v].clock;
  const bool near = at.shift == 0 || (at.clock == clock && at.shift > -max_shift);
  if (!near) return letter("v" + std::to_string(number(v)), at);
  const Formula first = starts(clock, at);
  if (is_start(core_, v)) return first;
  const Formula next = holds(f.next, at.shift == 1 ? When{} : When{clock, at.shift - 1});
  return first == Formulas::no ? next : formulas_.choice(first, holds(f.init, at), next);
}

InstantTruth::Formula InstantTruth::post(ValueId v, const core::Post& p, const When& at) {
  const ClockId clock = core_[v].clock;
  const bool near = at.shift == 0 || (at.clock == clock && at.shift < max_shift);
  if (!near) return letter("v" + std::to_string(number(v)), at);
  return holds(p.operand, at.shift == -1 ? When{} : When{clock, at.shift + 1});
}

InstantTruth::Formula InstantTruth::ticks(ClockId clock) {
  if (clock == base_clock) return Formulas::yes;
  if (clock == never_clock) return Formulas::no;
  std::vector<ClockId> chain;
  Formula found = Formulas::yes;
  for (const ClockId c : ancestors(core_, clock)) {
    if (const auto known = ticks_.find(c.index); known != ticks_.end()) {
      found = known->second;
      break;
    }
    chain.push_back(c);
  }
  for (; !chain.empty(); chain.pop_back()) {
    const Clock& c = core_[chain.back()];
    const Formula condition = holds(c.condition);
    found = formulas_.both(found, c.positive ? condition : !condition);
    ticks_[chain.back().index] = found;
  }
  return found;
}

// A clock that is present at the first instant of its parent clock starts there.
InstantTruth::Formula InstantTruth::starts(ClockId clock, const When& at) {
  if (at.shift > 0) return Formulas::no;  // an earlier instant of this clock exists
  if (clock == never_clock) return Formulas::no;
  const auto start = [&](ClockId c) { return letter("start" + std::to_string(number(c)), at); };
  Formula found = start(base_clock);
  for (const ClockId c : path_to(core_, clock)) found = formulas_.either(found, start(c));
  return found;
}

InstantTruth::Formula InstantTruth::letter(const std::string& name, const When& at) {
  std::string place = name;
  append(place, key(0, at).second);
  const auto [known, is_new] = letters_.try_emplace(std::move(place));
  if (is_new) known->second = formulas_.letter();
  return known->second;
}

std::uint32_t InstantTruth::intern(const std::string& text) {
  return interned_.try_emplace(text, static_cast<std::uint32_t>(interned_.size())).first->second;
}

std::uint32_t InstantTruth::number(ClockId clock) {
  if (const auto known = clock_numbers_.find(clock.index); known != clock_numbers_.end()) return known->second;
  std::string text = "clock";
  for (const ClockId c : ancestors(core_, clock)) {
    append(text, number(core_[c].condition));
    append(text, core_[c].positive);
  }
  return clock_numbers_[clock.index] = intern(text);
}

std::uint32_t InstantTruth::number(ValueId v) {
  if (const auto known = numbers_.find(v.index); known != numbers_.end()) return known->second;
  std::string own = "own";
  append(own, v.index);
  numbers_[v.index] = intern(own);  // the result for a value that depends on itself
  const Deeper level(depth_);
  if (depth_ > max_depth) return numbers_[v.index];
  if (const auto* w = std::get_if<core::When>(&core_[v].rhs)) return numbers_[v.index] = number(w->operand);
  const std::string text = written(v);
  if (!text.empty()) numbers_[v.index] = intern(text);
  return numbers_[v.index];
}

// A key for the computation of v; empty if no other computation may be equal to it.
std::string InstantTruth::written(ValueId v) {
  const Value& value = core_[v];
  if (const auto* c = std::get_if<core::Const>(&value.rhs))
    return c->value.bytes() <= 256 ? "const" + constant_key(c->value) : std::string();
  std::string text;
  append(text, value.rhs.index());
  append(text, value.dtype);
  for (const std::int64_t extent : value.shape) append(text, extent);
  if (const auto* a = apply_of(core_, v)) {
    const OperatorInfo& row = operators()[a->op];
    if (row.random || row.lowering == Lowering::parameter) return {};
    append(text, a->op);
    for (const Attribute& attribute : a->attributes) append(text, attribute);
  } else if (const auto* r = std::get_if<core::Result>(&value.rhs)) {
    append(text, r->output);
  } else if (std::holds_alternative<core::Fby>(value.rhs) || std::holds_alternative<core::Post>(value.rhs)) {
    append(text, number(value.clock));
  } else if (!std::holds_alternative<core::Merge>(value.rhs)) {
    return {};
  }
  for_each_operand(value.rhs, [&](ValueId o) { append(text, number(o)); });
  return text;
}

}  // namespace rml
