// Folding and sharing, in one walk over all values (part of simplify).
//
// The walk visits operands first. It rewrites each value to canonical operands and a canonical
// clock, folds it, and looks it up among the earlier values by the bytes of its right-hand side.
// Operands of fby that close a cycle are rewritten at the end; folding them takes another walk.
//
//   %3 = add %1 %2    %4 = add %1 %2    %5 = mul %3 %4      %5 = mul %3 %3
//
// Reductions that differ only in the axes they keep are shared:
//
//   %3 = mean %1 {axis=[0]}    %4 = mean %1 {axis=[0], keepdims=[1]}      %4 = reshape %3
//
// Derivatives sum products over broadcast axes. A factor that is constant along them is
// multiplied after the sum:
//
//   %3 = mul %1 %2    %4 = sum_to %3                   %5 = sum_to %1    %4 = mul %5 %2
//
// Derivatives transpose the product of a transposed matrix. This is the product of the exchanged
// operands:
//
//   %3 = transpose %1    %4 = matmul %3 %2    %5 = transpose %4      %6 = transpose %2    %5 = matmul %6 %1
//
// An update that changes only a few rows of a table is added to these rows only:
//
//   %3 = sum_take %1 %2    %4 = mul 0.1 %3    %6 = add %5 %4      %4 = mul 0.1 %1    %6 = add_at %5 %4 %2
#include <algorithm>

#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"
#include "semantics/values/overloaded.h"

namespace rml {

namespace {

class Sharing {
 public:
  Sharing(Core& core, std::vector<bool>& effects, bool share_effects)
      : core_(core),
        effects_(effects),
        share_effects_(share_effects),
        old_clocks_(core.clocks),
        logical_not_(operators().require("logical_not")),
        sum_take_(operators().require("sum_take")),
        place_(operators().require("place")),
        add_at_(operators().require("add_at")),
        negate_(operators().require("negate")) {
    core_.clocks.assign(2, Clock{});
    table_.emplace(core_);
    canon_.resize(core.values.size());
    clock_canon_.resize(old_clocks_.size());
    clock_canon_[base_clock.index] = base_clock;
    clock_canon_[never_clock.index] = never_clock;
  }

  bool run() {
    // Renumbering has put operands before their users, so one pass in the order of the table is
    // enough.
    const std::size_t count = core_.values.size();
    effects_.resize(count, false);
    mentions_.assign(count, 0);
    shared_.reserve(count);
    for (const Value& v : core_.values) for_each_operand(v.rhs, [&](ValueId o) { ++mentions_[o.index]; });
    for (const Port& p : core_.outputs) ++mentions_[p.value.index];
    for (std::size_t v = 0; v < count; ++v) visit(ValueId{v});
    finish(count);
    return changed_;
  }

 private:
  // On a cycle, a value may equal a later one, which is later found to equal a third. Each step
  // leads to a value that had no canonical value before, so the loop terminates.
  ValueId canonical(ValueId v) const {
    while (v.index < canon_.size() && canon_[v.index].valid() && canon_[v.index] != v) v = canon_[v.index];
    return v;
  }

  ClockId clock(ClockId c) {
    std::vector<ClockId> chain;
    for (; !clock_canon_[c.index].valid(); c = old_clocks_[c.index].parent) chain.push_back(c);
    ClockId result = clock_canon_[c.index];
    for (; !chain.empty(); chain.pop_back()) {
      Clock at = old_clocks_[chain.back().index];
      normalize(at.condition, at.positive);
      if (const auto* known = std::get_if<core::Const>(&core_[at.condition].rhs)) {
        changed_ = true;
        if (known->value.truth() != at.positive) result = never_clock;
      } else if (result != never_clock) {
        result = table_->on(result, at.condition, at.positive);
      }
      clock_canon_[chain.back().index] = result;
    }
    return result;
  }

  // The canonical condition without negations. Each removed negation leads to a smaller index. If
  // it would not, the negations form a cycle, which is left unchanged.
  void normalize(ValueId& condition, bool& positive) {
    condition = canonical(condition);
    for (;;) {
      const auto* apply = apply_of(core_, condition, logical_not_);
      if (apply == nullptr) return;
      const ValueId inner = canonical(apply->operands[0]);
      if (inner.index >= condition.index && !core_.is_const(inner)) return;
      condition = inner;
      positive = !positive;
      changed_ = true;
    }
  }

  void rewrite(core::Rhs& rhs) {
    for_each_operand(rhs, [&](ValueId& operand) { operand = canonical(operand); });
    if (auto* when = std::get_if<core::When>(&rhs)) normalize(when->condition, when->positive);
    if (auto* merge = std::get_if<core::Merge>(&rhs)) {
      bool positive = true;
      normalize(merge->condition, positive);
      if (!positive) std::swap(merge->on_true, merge->on_false);
    }
  }

  void visit(ValueId v) {
    const ClockId ck = clock(core_[v].clock);
    core_[v].clock = ck;
    rewrite(core_[v].rhs);
    const bool is_const = core_.is_const(v);
    if (ck == never_clock && !is_const && !std::holds_alternative<core::Input>(core_[v].rhs)) {
      core_[v].rhs = core::Const{Tensor(core_[v].dtype, core_[v].shape)};
      effects_[v.index] = false;
      changed_ = true;
    }
    if (core_.is_const(v)) {
      const Tensor& value = std::get<core::Const>(core_[v].rhs).value;
      if (ck == base_clock) constants_.try_emplace(constant_key(value) + "@0", v);
      canon_[v.index] = constant(std::get<core::Const>(core_[v].rhs).value, base_clock, v);
      return;
    }
    if (auto other = simpler(core_, v)) {
      core_[v].rhs = std::move(*other);
      changed_ = true;
    }
    factor_out(v);
    turn_product(v);
    add_rows(v);
    if (auto other = reduced_before(v)) {
      core_[v].rhs = std::move(*other);
      changed_ = true;
    }
    Folded folded = fold(core_, v);
    if (folded.constant) {
      changed_ = true;
      canon_[v.index] = constant(*folded.constant, base_clock, v);
      effects_[v.index] = false;
    } else if (folded.value.valid()) {
      changed_ = true;
      canon_[v.index] = canonical(folded.value);
      effects_[v.index] = false;
    } else {
      share(v);
    }
  }

  void factor_out(ValueId v) {
    const auto* sum = apply_of(core_, v, Lowering::sum_to);
    if (sum == nullptr || !is_float(core_[v].dtype)) return;
    const auto* factors = apply_of(core_, sum->operands[0], Lowering::elementwise);
    if (factors == nullptr) return;
    const ScalarOp op = operators()[factors->op].scalar;
    if (op != ScalarOp::mul && op != ScalarOp::div && op != ScalarOp::negate) return;
    const Shape from = core_[sum->operands[0]].shape, to = core_[v].shape;
    for (std::size_t k = 0; k < factors->operands.size(); ++k) {
      if (op == ScalarOp::div && k > 0) break;
      if (core_[factors->operands[k]].shape != from) continue;
      const auto same = [&](ValueId o) { return o == factors->operands[k] || broadcast(to, core_[o].shape) == to; };
      if (!std::ranges::all_of(factors->operands, same) ||
          (op == ScalarOp::mul && factors->operands[0] == factors->operands[1]))
        continue;
      core::Apply product = *factors, before = *sum;
      before.operands[0] = product.operands[k];
      product.operands[k] = append_like(v, v, std::move(before));
      core_[v].rhs = std::move(product);
      changed_ = true;
      return;
    }
  }

  // True for a sum_take, or for one row in a large table.
  bool adds_rows(const core::Apply& a) const {
    constexpr std::int64_t large = 4096;
    return a.op == sum_take_ ||
           (a.op == place_ && a.operands.size() == 2 && *element_count(a.attributes[0].integers) > large);
  }

  // Rewrites v if one of its operands is a sum of rows that only v uses.
  void add_rows(ValueId v) {
    const auto* a = apply_of(core_, v, Lowering::elementwise);
    if (a == nullptr || !is_float(core_[v].dtype)) return;
    for (std::size_t k = 0; k < a->operands.size(); ++k) {
      const ValueId o = a->operands[k];
      if (!is_rows_of(o, v)) continue;
      const core::Apply whole = *a;
      std::optional<core::Apply> made = scaled_rows(v, whole, k);
      if (!made) made = added_rows(v, whole, k);
      if (!made) continue;
      core_[v].rhs = std::move(*made);
      // v now contains the operator on rows, and with it the fault for an index out of range.
      effects_[v.index] = effects_[v.index] || effects_[o.index];
      effects_[o.index] = false;
      changed_ = true;
      return;
    }
  }

  // True if o is a sum of rows with v's shape and clock, and v is its only user.
  bool is_rows_of(ValueId o, ValueId v) const {
    const auto* rows = apply_of(core_, o);
    return rows != nullptr && adds_rows(*rows) && core_[o].shape == core_[v].shape &&
           core_[o].clock == core_[v].clock && o.index < mentions_.size() && mentions_[o.index] == 1;
  }

  // Scaled or negated rows: scales the rows instead of the table.
  std::optional<core::Apply> scaled_rows(ValueId v, const core::Apply& whole, std::size_t k) {
    const ScalarOp op = operators()[whole.op].scalar;
    const bool is_scaled = op == ScalarOp::mul && core_[whole.operands[1 - k]].shape.empty();
    if (!is_scaled && op != ScalarOp::negate) return std::nullopt;
    core::Apply rows = *apply_of(core_, whole.operands[k]), factor = whole;
    factor.operands[k] = rows.operands[0];
    rows.operands[0] = append_like(rows.operands[0], v, std::move(factor));
    return rows;
  }

  // Adds rows to another operand in place, or subtracts them.
  std::optional<core::Apply> added_rows(ValueId v, const core::Apply& whole, std::size_t k) {
    const ScalarOp op = operators()[whole.op].scalar;
    if (op != ScalarOp::add && !(op == ScalarOp::sub && k == 1)) return std::nullopt;
    const ValueId other = whole.operands[1 - k];
    if (core_[other].shape != core_[v].shape) return std::nullopt;
    const core::Apply rows = *apply_of(core_, whole.operands[k]);
    ValueId updates = rows.operands[0];
    if (op == ScalarOp::sub) updates = append_like(updates, v, core::Apply{negate_, {updates}, {}, 0});
    const Attribute zero{.given = true, .scalar = true, .integers = {0}};
    const Attribute one{.given = true, .scalar = true, .integers = {1}};
    std::vector<Attribute> places = {zero, zero};  // the attributes axis and from_end
    if (rows.op == sum_take_) places = {rows.attributes[1], one};
    return core::Apply{add_at_, {other, updates, rows.operands[1]}, std::move(places), 0};
  }

  // A new value with the shape of x, and with the clock and place of v.
  ValueId append_like(ValueId x, ValueId v, core::Apply rhs) {
    Value made = core_[v];
    made.rhs = std::move(rhs);
    made.shape = core_[x].shape;
    made.name.clear();
    core_.values.push_back(std::move(made));
    return ValueId{core_.values.size() - 1};
  }

  // The operand of v if v exchanges only its last two axes, else invalid.
  ValueId exchanged(ValueId v) const {
    const auto* a = apply_of(core_, v, Lowering::transpose);
    if (a == nullptr || core_[v].shape.size() < 2) return {};
    const std::vector<Shape> shapes = {core_[a->operands[0]].shape};
    std::vector<std::size_t> axes = transposed_axes(Application{{}, shapes, a->attributes, core_[v].dtype});
    std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
    return std::ranges::is_sorted(axes) ? a->operands[0] : ValueId{};
  }

  void turn_product(ValueId v) {
    const ValueId p = exchanged(v);
    const auto* found = p.valid() ? apply_of(core_, p, Lowering::matmul) : nullptr;
    if (found == nullptr) return;
    core::Apply product = *found;
    const ValueId a = exchanged(product.operands[0]), b = exchanged(product.operands[1]);
    if ((!a.valid() && !b.valid()) || core_[product.operands[0]].shape.size() < 2 ||
        core_[product.operands[1]].shape.size() < 2)
      return;
    const auto turned = [&](ValueId operand, ValueId already) {
      if (already.valid()) return already;
      Value t = core_[operand];
      t.clock = core_[v].clock;  // a constant operand is on the base clock
      core::Apply transpose = std::get<core::Apply>(core_[v].rhs);
      transpose.operands = {operand};
      transpose.attributes[0].given = true;
      transpose.attributes[0].scalar = false;
      transpose.attributes[0].integers = {-1, -2};
      transpose.attributes[1].integers = {0};
      t.rhs = std::move(transpose);
      std::swap(t.shape[t.shape.size() - 2], t.shape[t.shape.size() - 1]);
      t.name.clear();
      core_.values.push_back(std::move(t));
      return ValueId{core_.values.size() - 1};
    };
    product.operands = {turned(product.operands[1], b), turned(product.operands[0], a)};
    core_[v].rhs = std::move(product);
    changed_ = true;
  }

  std::optional<core::Rhs> reduced_before(ValueId v) {
    const auto* a = apply_of(core_, v);
    if (a == nullptr || effects_[v.index] || !is_reduction(operators()[a->op].lowering)) return std::nullopt;
    const Value& x = core_[a->operands[0]];
    const Lowering lowering = operators()[a->op].lowering;
    const bool to_shape = lowering == Lowering::sum_to;
    std::string key;
    for (const std::uint64_t n :
         {static_cast<std::uint64_t>(to_shape ? Lowering::reduce_sum : lowering), std::uint64_t{a->operands[0].index},
          std::uint64_t{core_[v].clock.index}, static_cast<std::uint64_t>(core_[v].dtype)})
      append(key, n);
    const std::size_t added = to_shape ? x.shape.size() - core_[v].shape.size() : 0;
    const std::optional<std::vector<bool>> axes =
        to_shape ? std::vector<bool>(x.shape.size()) : reduced_axes(a->attributes[0], x.shape.size());
    for (std::size_t k = 0; k < x.shape.size(); ++k) {
      const bool reduced = to_shape ? k < added || core_[v].shape[k - added] != x.shape[k] : (*axes)[k];
      key += reduced && x.shape[k] != 1 ? 'r' : 'k';
    }
    const auto [known, is_new] = reductions_.try_emplace(key, v);
    if (is_new || core_[known->second].shape == core_[v].shape) return std::nullopt;
    return reshaped(canonical(known->second), core_[v].shape);
  }

  // The constant on a clock (for operands: base). `like` gives the span of a new one.
  ValueId constant(const Tensor& tensor, ClockId ck, ValueId like) {
    const std::string key = constant_key(tensor) + "@" + std::to_string(ck.index);
    if (const auto met = constants_.find(key);
        met != constants_.end() && std::get<core::Const>(core_[met->second].rhs).value == tensor)
      return met->second;
    const ValueId made{core_.values.size()};
    const Value from = core_[like];
    core_.values.push_back({core::Const{tensor}, tensor.dtype(), tensor.shape(), ck, from.span, from.instance, {}});
    constants_[key] = made;
    return made;
  }

  void share(ValueId v) {
    canon_[v.index] = v;
    write_key(core_[v], key_);
    if (key_.empty() || (effects_[v.index] && !share_effects_)) return;
    const auto [known, is_new] = shared_.try_emplace(std::hash<std::string>{}(key_), v);
    if (is_new) return;
    write_key(core_[known->second], known_key_);
    if (known_key_ != key_) return;  // two keys have the same hash but differ, so the values are not shared
    changed_ = true;
    canon_[v.index] = known->second;
    if (effects_[v.index]) effects_[known->second.index] = true;
    effects_[v.index] = false;
    Value& kept = core_[known->second];
    if (kept.name.empty()) kept.name = core_[v].name;
  }

  // Seven bits per byte, with the eighth bit set on all bytes except the last: most numbers take
  // one byte, and the encoding is free of prefixes.
  static void append(std::string& key, std::uint64_t n) {
    for (; n > 127; n >>= 7) key += static_cast<char>(n | 128);
    key += static_cast<char>(n);
  }

  static void append(std::string& key, const Attribute& a) {
    append(key, std::uint64_t{a.given} | std::uint64_t{a.scalar} << 1 |
                    std::uint64_t{static_cast<std::uint8_t>(a.dtype)} << 8);
    append(key, a.integers.size());
    for (const std::int64_t i : a.integers) append(key, static_cast<std::uint64_t>(i));
    std::uint64_t bits;
    std::memcpy(&bits, &a.number, sizeof bits);
    append(key, bits);
    append(key, a.text.size());
    key += a.text;
  }

  // The data in which two equal values agree; empty if identity matters. A visited value keeps
  // its key.
  void write_key(const Value& value, std::string& key) const {
    key.clear();
    append(key, value.rhs.index());
    append(key, value.clock.index);
    append(key, static_cast<std::uint64_t>(value.dtype));
    append(key, value.shape.size());
    for (const std::int64_t extent : value.shape) append(key, static_cast<std::uint64_t>(extent));
    const bool keyed = std::visit(Overloaded{
                                      [](const core::Const&) { return false; },
                                      [](const core::Input&) { return false; },
                                      [&](const core::Apply& a) {
                                        append(key, a.op);
                                        append(key, a.key);
                                        for (const Attribute& x : a.attributes) append(key, x);
                                        return true;
                                      },
                                      [&](const core::Call& c) {
                                        append(key, c.external);
                                        return !core_.externals[c.external].in_c();
                                      },
                                      [&](const core::Result& r) {
                                        append(key, r.output);
                                        return true;
                                      },
                                      [&](const core::When& w) {
                                        append(key, w.positive);
                                        return true;
                                      },
                                      [](const core::Merge&) { return true; },
                                      [](const core::Fby&) { return true; },
                                      [](const core::Post&) { return true; },
                                  },
                                  value.rhs);
    if (!keyed) {
      key.clear();
      return;
    }
    const auto* apply = std::get_if<core::Apply>(&value.rhs);
    if (apply != nullptr && operators()[apply->op].commutative && apply->operands.size() == 2 &&
        apply->operands[1] < apply->operands[0]) {
      append(key, apply->operands[1].index);
      append(key, apply->operands[0].index);
    } else {
      for_each_operand(value.rhs, [&](ValueId operand) { append(key, operand.index); });
    }
  }

  // Rewrites operands that were visited after their users, and the ports.
  void finish(std::size_t count) {
    for (std::size_t v = 0; v < count; ++v) rewrite(core_.values[v].rhs);
    const auto port = [&](ValueId& v) {
      const ClockId ck = core_[v].clock;
      const ValueId to = canonical(v);
      const auto* known = std::get_if<core::Const>(&core_[to].rhs);
      v = known != nullptr && ck != base_clock ? constant(Tensor(known->value), ck, v) : to;
    };
    for (Port& p : core_.outputs) port(p.value);
    for (Port& p : core_.watches) port(p.value);
    for (Parameter& p : core_.parameters) port(p.value);
    for (CoreAssert& check : core_.asserts) port(check.condition);
    std::erase_if(core_.asserts, [&](const CoreAssert& check) {
      const auto* known = std::get_if<core::Const>(&core_[check.condition].rhs);
      return known != nullptr && (known->value.truth() || core_[check.condition].clock == never_clock);
    });
    finish_clocks();
    effects_.resize(core_.values.size(), false);
  }

  // Renumbers clocks that were visited before their conditions. Samplings by these are already
  // rewritten.
  void finish_clocks() {
    const std::vector<Clock> met = core_.clocks;
    std::vector<Clock> finished = met;
    for (Clock& c : finished)
      if (c.condition.valid()) normalize(c.condition, c.positive);
    const auto same = [](const Clock& a, const Clock& b) {
      return a.condition == b.condition && a.positive == b.positive;
    };
    if (std::ranges::equal(met, finished, same)) return;
    std::vector<ClockId> to = {base_clock, never_clock};
    core_.clocks.assign(2, Clock{});
    table_.emplace(core_);
    for (std::size_t c = 2; c < finished.size(); ++c)
      to.push_back(table_->on(to[finished[c].parent.index], finished[c].condition, finished[c].positive));
    for (Value& v : core_.values) v.clock = to[v.clock.index];
  }

  Core& core_;
  std::vector<bool>& effects_;
  const bool share_effects_;
  const std::vector<Clock> old_clocks_;
  const OperatorId logical_not_, sum_take_, place_, add_at_, negate_;
  std::optional<ClockTable> table_;
  // Indexed by value: the value that replaces it; filled up to the current value.
  std::vector<ValueId> canon_;
  std::vector<ClockId> clock_canon_;                 // indexed by old clock: the clock that replaces it
  std::vector<std::uint32_t> mentions_;              // one per value: number of uses before the walk
  std::unordered_map<std::size_t, ValueId> shared_;  // values that may be shared, by the hash of their key
  std::unordered_map<std::string, ValueId> constants_, reductions_;
  std::string key_, known_key_;  // keys of the value visited last, and of the candidate to share
  bool changed_ = false;
};

}  // namespace

bool fold_and_share(Core& core, std::vector<bool>& effects, bool share_effects) {
  return Sharing(core, effects, share_effects).run();
}

}  // namespace rml
