// Writes each node of the decision diagram as `and` and `or` of its letter and the remaining
// functions. Both sides are computed, since that costs less than a branch.
#include "semantics/time/write_function.h"

#include <algorithm>

#include "semantics/core/queries.h"

namespace rml {

using Function = BooleanFunctions::Function;

ValueId FunctionWriter::write(Function f, ClockId clock, ValueId like) {
  clock_ = clock;
  like_ = core_[like];
  return function(f);
}

ValueId FunctionWriter::function(Function f) {
  if (f == BooleanFunctions::yes || f == BooleanFunctions::no) return constant(f == BooleanFunctions::yes);
  if (const auto known = functions_.find({clock_.index, f.node}); known != functions_.end()) return known->second;
  const BooleanFunctions::Question q = need_.functions()[f];
  const ValueId l = letter(q.letter);
  ValueId found = l;
  if (q.if_yes == BooleanFunctions::yes) {
    if (q.if_no != BooleanFunctions::no) found = apply("logical_or", {l, function(q.if_no)});
  } else if (q.if_no == BooleanFunctions::no) {
    found = apply("logical_and", {l, function(q.if_yes)});
  } else {
    const ValueId other = apply("logical_not", {l});
    if (q.if_yes == BooleanFunctions::no) {
      found = q.if_no == BooleanFunctions::yes ? other : apply("logical_and", {other, function(q.if_no)});
    } else if (q.if_no == BooleanFunctions::yes) {
      found = apply("logical_or", {other, function(q.if_yes)});
    } else {
      const ValueId where = apply("logical_and", {l, function(q.if_yes)});
      found = apply("logical_or", {where, apply("logical_and", {other, function(q.if_no)})});
    }
  }
  return functions_[{clock_.index, f.node}] = found;
}

ValueId FunctionWriter::letter(std::uint32_t number) {
  if (const auto known = letters_.find({clock_.index, number}); known != letters_.end()) return known->second;
  const NeedFunctions::Letter l = need_.letter(number);
  if (!l.before) {
    const ValueId v = l.value.valid() ? l.value : add(core::Fby{constant(true), constant(false)}, l.begun);
    return letters_[{clock_.index, number}] = on_clock(v);
  }
  // Registers the letter first, because its next value may depend on it.
  const ValueId before = letters_[{clock_.index, number}] = add(core::Fby{constant(false), ValueId{}}, clock_);
  const ValueId next = function(need_.within(l.next, clock_));
  std::get<core::Fby>(core_[before].rhs).next = next;
  return before;
}

// The value on the current clock; false where the value is absent.
ValueId FunctionWriter::on_clock(ValueId v) {
  const ClockId from = core_[v].clock, common = common_clock(core_, from, clock_);
  for (const ClockId c : ancestors(core_, from, common)) {
    const Clock at = core_[c];
    const ValueId no = constant(false);
    v = add(core::Merge{at.condition, at.positive ? v : no, at.positive ? no : v}, at.parent);
  }
  for (const ClockId c : path_to(core_, clock_, common))
    v = add(core::When{v, core_[c].condition, core_[c].positive}, c);
  return v;
}

ValueId FunctionWriter::constant(bool truth) { return add(core::Const{Tensor::boolean(truth)}, base_clock); }

// Sorts the operands by id, since all connectives commute.
ValueId FunctionWriter::apply(const char* op, std::vector<ValueId> operands) {
  const OperatorId id = operators().require(op);
  std::ranges::sort(operands);
  const auto [known, is_new] = known_.try_emplace({clock_.index, id, operands}, ValueId{});
  if (is_new) known->second = add(core::Apply{id, std::move(operands), {}, 0}, clock_);
  return known->second;
}

void FunctionWriter::find_known() {
  for (const char* name : {"logical_and", "logical_or", "logical_not"}) {
    const OperatorId op = operators().require(name);
    for (std::uint32_t i = 0; i < core_.values.size(); ++i) {
      const core::Apply* a = apply_of(core_, ValueId{i}, op);
      if (a == nullptr || !core_[ValueId{i}].shape.empty()) continue;
      std::vector<ValueId> operands = a->operands;
      std::ranges::sort(operands);
      known_.try_emplace({core_[ValueId{i}].clock.index, op, std::move(operands)}, ValueId{i});
    }
  }
}

ValueId FunctionWriter::add(core::Rhs rhs, ClockId clock) {
  Value value = like_;
  value.rhs = std::move(rhs);
  value.dtype = DType::boolean;
  value.shape = {};
  value.clock = clock;
  value.name.clear();
  core_.values.push_back(std::move(value));
  return ValueId{core_.values.size() - 1};
}

}  // namespace rml
