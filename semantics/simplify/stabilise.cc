// Rewrites values by patterns until none matches:
//
//   log (1 + a)    log (1 - a)     log1p a    log1p (-a)
//   (exp x) - 1                    expm1 x
//   1 - sigmoid x                  sigmoid (-x)
//   log (sigmoid x)                -softplus (-x)
//   log1p (-(sigmoid x))           -softplus x
//   log1p (exp x)                  softplus x
//   log (softmax x)                log_softmax x
//   log (a * softmax x)            log a + log_softmax x
//
// A gradient may divide by a number and multiply by it again; the number may have been rounded to
// 0 or infinity. In a product of factors, with s one of exp, sigmoid, softmax, 1 - sigmoid:
//
//   (g / s) * s                    g
//   (g / (1 + exp x)) * exp x      g * sigmoid x
//
// Patterns match through samplings, which remain: `log (s when c)` becomes `log_softmax (x when
// c)`. 1 - s is not rewritten if it is only a factor, as in the gradient of sigmoid and in gates:
// its rounding error is no larger than that of s, which is already computed.
#include "semantics/simplify/stabilise.h"

#include <algorithm>

#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"

namespace rml {

namespace {

constexpr int most_rounds = 8;
constexpr int max_factors = 16;

class Stabilisation {
 public:
  explicit Stabilisation(Core& core) : core_(core), uses_(core), on_the_way_(core.values.size(), false) {}

  bool run() {
    bool any = false;
    for (int round = 0; round < most_rounds; ++round) {
      bool changed = false;
      for (std::size_t v = 0, count = core_.values.size(); v < count; ++v) changed |= rewrite(ValueId{v});
      any |= changed;
      if (!changed) break;
      uses_ = Uses(core_);
    }
    if (any) renumber(core_, std::vector<bool>(core_.values.size(), true));
    return any;
  }

 private:
  // ---- patterns ----

  ValueId unsampled(ValueId v) const {
    while (const auto* w = std::get_if<core::When>(&core_[v].rhs)) v = w->operand;
    return v;
  }
  const core::Apply* seen(ValueId v, std::string_view op) const { return apply_of(core_, unsampled(v), op); }

  // True for a float constant whose elements all equal x, and whose shape does not widen `like`.
  bool is_number(ValueId v, double x, ValueId like) const {
    const auto* c = std::get_if<core::Const>(&core_[unsampled(v)].rhs);
    if (c == nullptr || broadcast(core_[v].shape, core_[like].shape) != core_[like].shape) return false;
    const Tensor& t = c->value;
    if (t.dtype() == DType::f32)
      return std::all_of(t.as<float>(), t.as<float>() + t.elements(),
                         [&](float e) { return e == static_cast<float>(x); });
    if (t.dtype() != DType::f64) return false;
    return std::all_of(t.as<double>(), t.as<double>() + t.elements(), [&](double e) { return e == x; });
  }

  // The operand a of 1 + a; invalid for other values.
  ValueId beside_one(ValueId v) const {
    const auto* sum = seen(v, "add");
    if (sum == nullptr) return {};
    for (const std::size_t k : {0, 1})
      if (is_number(sum->operands[k], 1, sum->operands[1 - k])) return sum->operands[1 - k];
    return {};
  }
  // The operand a of 1 - a; invalid for other values.
  ValueId taken_from_one(ValueId v) const {
    const auto* difference = seen(v, "sub");
    if (difference == nullptr || !is_number(difference->operands[0], 1, difference->operands[1])) return {};
    return difference->operands[1];
  }

  // ---- new values ----

  ValueId add(core::Rhs rhs, ValueId like, const Shape& shape, ClockId clock) {
    const Value from = core_[like];
    core_.values.push_back({std::move(rhs), from.dtype, shape, clock, from.span, from.instance, {}});
    on_the_way_.push_back(false);
    return ValueId{core_.values.size() - 1};
  }
  core::Apply call(std::string_view op, std::vector<ValueId> operands, std::vector<Attribute> attributes = {}) const {
    return {operators().require(op), std::move(operands), std::move(attributes), 0};
  }
  // A new value: `op` applied to the operands, on the clock of `like`, with their broadcast shape.
  ValueId made(std::string_view op, const std::vector<ValueId>& operands, ValueId like) {
    Shape shape;
    for (const ValueId x : operands) shape = *broadcast(shape, core_[x].shape);
    return add(call(op, operands), operands[0], shape, core_[like].clock);
  }
  ValueId negated(ValueId x, ValueId like) {
    if (const auto* inner = seen(x, "negate")) return operand_of(x, core::Apply(*inner));
    return made("negate", {x}, like);
  }
  // `inner`, an operand of the value that `sampled` samples, with the same samplings.
  ValueId sampled_like(ValueId sampled, ValueId inner) {
    const auto* w = std::get_if<core::When>(&core_[sampled].rhs);
    if (w == nullptr || core_.is_const(inner)) return inner;
    const core::When when = *w;
    const ValueId below = sampled_like(when.operand, inner);
    return add(core::When{below, when.condition, when.positive}, inner, core_[inner].shape, core_[sampled].clock);
  }
  ValueId operand_of(ValueId v, const core::Apply& a) { return sampled_like(v, a.operands[0]); }

  bool become(ValueId v, core::Apply a) {
    core_[v].rhs = std::move(a);
    return true;
  }
  // simplify removes a broadcast_to that does not change the shape.
  bool become_value(ValueId v, ValueId x) {
    Attribute shape;
    shape.given = true;
    shape.integers = core_[v].shape;
    return become(v, call("broadcast_to", {x}, {shape}));
  }
  bool become_negated(ValueId v, std::string_view op, ValueId x) {
    return become(v, call("negate", {made(op, {x}, v)}));
  }

  // ---- logarithms and exponentials ----

  bool rewrite(ValueId v) {
    if (!is_float(core_[v].dtype)) return false;
    if (apply_of(core_, v, "log") != nullptr) return logarithm(v);
    if (apply_of(core_, v, "log1p") != nullptr) return logarithm_of_one_and(v);
    if (apply_of(core_, v, "sub") != nullptr) return difference(v);
    if (apply_of(core_, v, "mul") != nullptr) return product(v);
    if (apply_of(core_, v, "add") != nullptr) return sum(v);
    return false;
  }

  bool logarithm(ValueId v) {
    const ValueId x = apply_of(core_, v, "log")->operands[0];
    if (const ValueId a = beside_one(x); a.valid()) return become(v, call("log1p", {sampled_like(x, a)}));
    if (const ValueId a = taken_from_one(x); a.valid())
      return become(v, call("log1p", {negated(sampled_like(x, a), v)}));
    if (const auto* s = seen(x, "sigmoid"))
      return become_negated(v, "softplus", negated(operand_of(x, core::Apply(*s)), v));
    if (const auto* s = seen(x, "softmax")) {
      const core::Apply softmax = *s;
      return become(v, call("log_softmax", {operand_of(x, softmax)}, softmax.attributes));
    }
    const auto* p = seen(x, "mul");
    if (p == nullptr) return false;
    const core::Apply factors = *p;
    for (const std::size_t k : {0, 1}) {
      const auto* s = seen(factors.operands[k], "softmax");
      if (s == nullptr) continue;
      const core::Apply softmax = *s;
      const ValueId scores = sampled_like(x, operand_of(factors.operands[k], softmax));
      const ValueId a = made("log", {sampled_like(x, factors.operands[1 - k])}, v);
      const ValueId rest =
          add(call("log_softmax", {scores}, softmax.attributes), scores, core_[scores].shape, core_[v].clock);
      return become(v, call("add", {a, rest}));
    }
    return false;
  }

  bool logarithm_of_one_and(ValueId v) {
    const ValueId x = apply_of(core_, v, "log1p")->operands[0];
    if (const auto* e = seen(x, "exp")) return become(v, call("softplus", {operand_of(x, core::Apply(*e))}));
    const auto* n = seen(x, "negate");
    if (n == nullptr) return false;
    const ValueId inner = operand_of(x, core::Apply(*n));
    const auto* s = seen(inner, "sigmoid");
    return s != nullptr && become_negated(v, "softplus", operand_of(inner, core::Apply(*s)));
  }

  bool difference(ValueId v) {
    const core::Apply a = *apply_of(core_, v, "sub");
    if (const auto* e = seen(a.operands[0], "exp"); e != nullptr && is_number(a.operands[1], 1, a.operands[0]))
      return become(v, call("expm1", {operand_of(a.operands[0], core::Apply(*e))}));
    const auto* s = seen(a.operands[1], "sigmoid");
    if (s == nullptr || !is_number(a.operands[0], 1, a.operands[1]) || only_factor(v)) return false;
    complements_[v.index] = unsampled(a.operands[1]);
    return become(v, call("sigmoid", {negated(operand_of(a.operands[1], core::Apply(*s)), v)}));
  }

  bool sum(ValueId v) {
    const core::Apply a = *apply_of(core_, v, "add");
    for (const std::size_t k : {0, 1})
      if (const auto* e = seen(a.operands[k], "exp"); e != nullptr && is_number(a.operands[1 - k], -1, a.operands[k]))
        return become(v, call("expm1", {operand_of(a.operands[k], core::Apply(*e))}));
    return false;
  }

  // ---- products ----

  struct Factors {
    bool negative = false;
    std::vector<ValueId> above, below;
  };
  // On a clock that never ticks, a product may be a factor of itself; then it counts as a plain
  // factor. The recursion ends because each level adds a value to the path from the outermost
  // product.
  void collect(ValueId v, bool inverse, Factors& f) {
    if (on_the_way_[v.index] || f.above.size() + f.below.size() >= max_factors || !look_into(v, inverse, f))
      (inverse ? f.below : f.above).push_back(v);
  }
  bool look_into(ValueId v, bool inverse, Factors& f) {
    const auto* a = apply_of(core_, v);
    const std::string_view op = a == nullptr ? std::string_view() : operators()[a->op].name;
    if (op != "mul" && op != "div" && op != "negate") return false;
    on_the_way_[v.index] = true;
    f.negative ^= op == "negate";
    collect(a->operands[0], inverse, f);
    if (op != "negate") collect(a->operands[1], inverse != (op == "div"), f);
    on_the_way_[v.index] = false;
    return true;
  }

  bool only_factor(ValueId v) const {
    const auto users = uses_.of(v);
    return !users.empty() &&
           std::ranges::all_of(users, [&](ValueId user) { return apply_of(core_, user, "mul") != nullptr; });
  }

  // Identifies a positive function that may be rounded to 0 or infinity: the value that computes
  // it, and true if x is its complement to 1. Invalid for other values.
  std::pair<ValueId, bool> positive(ValueId x) const {
    const ValueId v = unsampled(x);
    if (const auto known = complements_.find(v.index); known != complements_.end()) return {known->second, true};
    if (seen(v, "exp") != nullptr || seen(v, "sigmoid") != nullptr || seen(v, "softmax") != nullptr) return {v, false};
    const ValueId a = taken_from_one(v);
    if (a.valid() && seen(a, "sigmoid") != nullptr) return {unsampled(a), true};
    return {};
  }

  // Rewrites the outermost of nested products, which has all factors.
  bool product(ValueId v) {
    if (only_factor(v)) return false;
    Factors f;
    collect(v, false, f);
    bool changed = false;
    for (std::size_t d = 0; d < f.below.size();) {
      const bool taken = cancel(f, f.below[d]);
      changed |= taken;
      if (taken)
        f.below.erase(f.below.begin() + static_cast<std::ptrdiff_t>(d));
      else
        ++d;
    }
    if (!changed) return false;
    rebuild(v, f);
    return true;
  }

  // Removes the divisor and the factor that cancels it. False if there is none.
  bool cancel(Factors& f, ValueId divisor) {
    const auto [s, complement] = positive(divisor);
    const ValueId e = beside_one(divisor);
    for (std::size_t k = 0; k < f.above.size(); ++k) {
      const ValueId x = f.above[k];
      if (s.valid() && positive(x) == std::pair(s, complement)) {
        f.above.erase(f.above.begin() + static_cast<std::ptrdiff_t>(k));
        if (!complement) complete(f, s);
        return true;
      }
      if (e.valid() && seen(x, "exp") != nullptr && unsampled(x) == unsampled(e)) {
        f.above[k] = made("sigmoid", {operand_of(x, core::Apply(*seen(x, "exp")))}, x);
        return true;
      }
    }
    return false;
  }

  // In the gradient of log (sigmoid x), 1 - sigmoid x remains, which is rounded to 0 for large x.
  void complete(Factors& f, ValueId s) {
    for (ValueId& x : f.above) {
      const ValueId taken = taken_from_one(x);
      if (!taken.valid() || unsampled(taken) != s || apply_of(core_, s, "sigmoid") == nullptr) continue;
      const ValueId inner = sampled_like(x, operand_of(taken, core::Apply(*apply_of(core_, s, "sigmoid"))));
      x = made("sigmoid", {negated(inner, x)}, x);
    }
  }

  void rebuild(ValueId v, const Factors& f) {
    ValueId all;
    for (const ValueId x : f.above) all = all.valid() ? made("mul", {all, x}, v) : x;
    if (!all.valid()) {
      Tensor one(core_[v].dtype, {});
      if (one.dtype() == DType::f32)
        *one.as<float>() = 1;
      else
        *one.as<double>() = 1;
      all = add(core::Const{std::move(one)}, v, {}, base_clock);
    }
    for (const ValueId x : f.below) all = made("div", {all, x}, v);
    if (f.negative) all = negated(all, v);
    become_value(v, all);
  }

  Core& core_;
  Uses uses_;  // the users of each value at the beginning of the round
  std::vector<bool> on_the_way_;
  // From the value sigmoid (-x) that replaced 1 - s, to s.
  std::unordered_map<std::uint32_t, ValueId> complements_;
};

}  // namespace

bool stabilise(Core& core) { return Stabilisation(core).run(); }

}  // namespace rml
