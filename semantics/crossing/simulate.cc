// Runs the finite state behind a condition and hashes states until one recurs.
//
// Only the equations that the condition depends on are run, one cycle of the base clock after
// another: pointwise operators, when, merge and fby. Anything else (inputs, external nodes, post)
// gives the answer `unknown`.
#include "semantics/crossing/simulate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "semantics/core/components.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

constexpr std::int64_t max_cycles = 1 << 18;
constexpr std::int64_t max_work = 1 << 22;

class Walk {
 public:
  Walk(const Core& core, Literal goal) : core_(core), goal_(goal) {}

  // False if some equation cannot be run.
  bool collect(bool& inputs) {
    std::vector<ValueId> work{goal_.condition};
    std::vector<bool> seen(core_.values.size());
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (seen[v.index]) continue;
      seen[v.index] = true;
      slice_.push_back(v);
      const auto& rhs = core_[v].rhs;
      if (std::holds_alternative<core::Input>(rhs)) inputs = true;
      if (const auto* a = apply_of(core_, v);
          a != nullptr && (operators()[a->op].random || operators()[a->op].lowering == Lowering::parameter))
        inputs = true;
      if (std::holds_alternative<core::Call>(rhs) || std::holds_alternative<core::Post>(rhs)) return false;
      if (core_[v].shape.size() > 1 || (core_[v].shape.size() == 1 && core_[v].shape[0] > 64)) return false;
      for_each_operand(rhs, [&](ValueId o) { work.push_back(o); });
      for (const ClockId c : ancestors(core_, core_[v].clock)) work.push_back(core_[c].condition);
    }
    return !inputs && order();
  }

  std::optional<Lasso> run(std::int64_t cycles) {
    std::unordered_map<std::string, std::int64_t> states;
    std::vector<bool> held;
    for (std::int64_t n = 0; n <= cycles && n * static_cast<std::int64_t>(slice_.size()) < max_work; ++n) {
      const auto [at, fresh] = states.try_emplace(state(), n);
      if (!fresh) return Lasso{std::move(held), static_cast<std::size_t>(at->second)};
      if (!step()) return std::nullopt;
      const auto& cell = now_.at(goal_.condition);
      held.push_back(cell.has_value() && cell->truth() == goal_.positive);
    }
    return std::nullopt;
  }

  static Recurrence judge(const Lasso& lasso) {
    const std::vector<bool>& held = lasso.held;
    const auto size = static_cast<std::int64_t>(held.size()), loop = static_cast<std::int64_t>(lasso.loop);
    std::int64_t last = -1;
    std::int64_t longest = 0;
    for (std::int64_t n = 0; n < size + (size - loop); ++n) {
      const std::int64_t m = n < size ? n : loop + (n - size);
      if (!held[static_cast<std::size_t>(m)]) continue;
      longest = std::max(longest, n - last);
      last = n;
    }
    Recurrence r;
    bool again = false;
    for (std::int64_t n = loop; n < size; ++n) again |= held[static_cast<std::size_t>(n)];
    r.kind = again ? Recurrence::recurs : Recurrence::stops;
    r.period = longest;
    for (std::int64_t n = 0; n < size; ++n)
      if (held[static_cast<std::size_t>(n)]) r.since = n + 1;
    return r;
  }

 private:
  // Orders operands before users within a cycle. False if there is no such order.
  bool order() {
    std::map<ValueId, std::uint32_t> position;
    for (std::size_t i = 0; i < slice_.size(); ++i) position[slice_[i]] = static_cast<std::uint32_t>(i);
    std::uint32_t found = 0;
    const auto comp = strong_order(position, found);
    if (found != slice_.size()) return false;
    std::vector<ValueId> sorted(slice_.size());
    for (std::size_t i = 0; i < slice_.size(); ++i) sorted[comp[i]] = slice_[i];
    slice_ = std::move(sorted);
    for (ValueId v : slice_)
      if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs)) fbys_.emplace_back(v, f->next);
    return true;
  }

  std::vector<std::uint32_t> strong_order(const std::map<ValueId, std::uint32_t>& position,
                                          std::uint32_t& found) const {
    return strong_components(
        slice_.size(),
        [&](std::uint32_t i, auto&& f) {
          const Value& v = core_[slice_[i]];
          const auto* fby = std::get_if<core::Fby>(&v.rhs);
          for_each_operand(v.rhs, [&](ValueId o) {
            if (fby == nullptr || o != fby->next) f(position.at(o));
          });
          if (!core_.is_const(slice_[i]) && v.clock.valid() && core_[v.clock].parent.valid())
            f(position.at(core_[v.clock].condition));
        },
        found);
  }

  std::string state() const {
    std::string s;
    for (const auto& [v, next] : fbys_) {
      const auto at = memory_.find(v);
      s += at == memory_.end() ? '0' : '1';
      if (at != memory_.end()) s.append(static_cast<const char*>(at->second.data()), at->second.bytes());
    }
    return s;
  }

  bool present(ClockId clock) const {
    for (const ClockId c : ancestors(core_, clock)) {
      const auto& cell = now_.at(core_[c].condition);
      if (!cell.has_value() || cell->truth() != core_[c].positive) return false;
    }
    return clock != never_clock;
  }

  bool step() {
    now_.clear();
    for (ValueId v : slice_) {
      std::optional<Tensor> cell;
      if (core_.is_const(v))
        cell = std::get<core::Const>(core_[v].rhs).value;
      else if (present(core_[v].clock) && !evaluate(v, cell))
        return false;
      now_[v] = std::move(cell);
    }
    for (const auto& [v, next] : fbys_)
      if (now_.at(v).has_value() && now_.at(next).has_value()) memory_[v] = *now_.at(next);
    return true;
  }

  bool evaluate(ValueId v, std::optional<Tensor>& cell) {
    const auto& rhs = core_[v].rhs;
    if (const auto* w = std::get_if<core::When>(&rhs)) {
      cell = now_.at(w->operand);
    } else if (const auto* m = std::get_if<core::Merge>(&rhs)) {
      cell = now_.at(now_.at(m->condition)->truth() ? m->on_true : m->on_false);
    } else if (const auto* f = std::get_if<core::Fby>(&rhs)) {
      const auto at = memory_.find(v);
      cell = at != memory_.end() ? std::optional(at->second) : now_.at(f->init);
    } else {
      return apply(std::get<core::Apply>(rhs), core_[v], cell);
    }
    return cell.has_value();
  }

  bool apply(const core::Apply& a, const Value& value, std::optional<Tensor>& cell) const {
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    std::vector<const Tensor*> operands;
    for (ValueId o : a.operands) {
      const auto& t = now_.at(o);
      if (!t.has_value()) return false;
      dtypes.push_back(t->dtype());
      shapes.push_back(t->shape());
      operands.push_back(&*t);
    }
    cell = Tensor(value.dtype, value.shape);
    const Application application{dtypes, shapes, a.attributes, value.dtype};
    return operators()[a.op].evaluate(application, {}, operands, *cell).kind == 0;
  }

  const Core& core_;
  Literal goal_;
  std::vector<ValueId> slice_;
  std::vector<std::pair<ValueId, ValueId>> fbys_;
  std::map<ValueId, Tensor> memory_;
  std::map<ValueId, std::optional<Tensor>> now_;
};

std::optional<Lasso> find(const Core& core, Literal goal, std::int64_t cycles, bool& inputs) {
  Walk walk(core, goal);
  if (!walk.collect(inputs)) return std::nullopt;
  return walk.run(cycles);
}

}  // namespace

Recurrence find_recurrence(const Core& core, Literal goal) {
  bool inputs = false;
  const std::optional<Lasso> lasso = find(core, goal, max_cycles, inputs);
  return lasso ? Walk::judge(*lasso) : Recurrence{.inputs = inputs};
}

std::optional<Lasso> find_lasso(const Core& core, ValueId condition, std::int64_t cycles) {
  bool inputs = false;
  return find(core, {condition, true}, cycles, inputs);
}

}  // namespace rml
