// Emits the core of a solved draft.
//
// Static values become constants. Samplings by a constant and branches never taken vanish with
// their clocks. Operands of fby and merge are broadcast to the result. A variable init is
// sampled:
//
//   x fby y    when start x, start = fby true false, both on the clock of x fby y
#include "semantics/instantiate/emit.h"

#include <algorithm>

#include "semantics/core/attributes.h"
#include "semantics/core/joint.h"
#include "semantics/instantiate/aliases.h"
#include "semantics/instantiate/conditions.h"
#include "semantics/instantiate/contraction.h"
#include "semantics/instantiate/iteration.h"
#include "semantics/instantiate/literals.h"
#include "semantics/simplify/passes.h"
#include "semantics/values/overloaded.h"

namespace rml::draft {

namespace {

// The attributes of `slice` for these axes: starts, stops and, if one is not 1, steps.
std::vector<Attribute> slice_bounds(const std::vector<IndexAxis>& axes, const Shape& whole) {
  std::vector<std::int64_t> starts, stops, steps;
  for (const IndexAxis& axis : axes) {
    const std::int64_t extent = whole[starts.size()];
    const bool all = axis.kind == IndexAxis::dynamic;
    const std::int64_t begin = all ? 0 : axis.begin, count = all ? extent : axis.count;
    std::int64_t stop = begin;  // position after the last element, in the direction of the step
    if (count > 0) stop += (count - 1) * axis.step + (axis.step > 0 ? 1 : -1);
    starts.push_back(begin);
    stops.push_back(stop < 0 ? stop - extent : stop);  // before the first element is -extent - 1
    steps.push_back(axis.step);
  }
  const bool is_contiguous = std::ranges::all_of(steps, [](std::int64_t step) { return step == 1; });
  return {integers_attribute(starts), integers_attribute(stops),
          is_contiguous ? Attribute{} : integers_attribute(steps)};
}

class Emitter {
 public:
  Emitter(const Draft& draft, const States& states, const Program& program, bool in_body, Diagnostics& diagnostics)
      : draft_(draft),
        states_(states),
        rules_(draft, states),
        program_(program),
        in_body_(in_body),
        diagnostics_(diagnostics),
        table_(core_) {}

  Core run();

 private:
  struct Condition {
    ValueId value;
    bool positive = true;
    bool constant = false;  // true if the condition is constant; its value is `positive`
  };
  struct Place {  // the clock and the place in the source of a new value
    ClockId clock;
    Span span;
    InstanceId instance;
  };

  const State& state(DraftId d) const { return states_[d.index]; }
  DraftId stands_for(DraftId d) const;
  bool is_emitted(DraftId d) const {
    return needed_[d.index] && end_[d.index] == d && state(d).constant == nullptr &&
           !std::holds_alternative<Alias>(draft_[d].rhs);
  }
  void find_negated_cycles();
  void find_needed();
  Condition condition(DraftId d, bool positive, ClockId clock);
  ValueId condition_on(DraftId peeled, ClockId clock);
  void note_conditions();
  ClockId clock(DraftClockId c);
  ValueId constant(const Tensor& tensor, ClockId clock = base_clock);
  ValueId repeated(const Tensor& tensor, const Shape& shape);
  ValueId operand(DraftId d);
  ValueId operand(DraftId d, const Shape& shape, ClockId clock);
  std::vector<ValueId> operands(const std::vector<DraftId>& list);
  ValueId add(core::Rhs rhs, DType dtype, Shape shape, const Place& place);
  ValueId broadcast_to(ValueId v, const Shape& shape, const Place& place);
  ValueId start(ClockId clock);
  ValueId cycle(ClockId clock);
  ValueId port(const NamedValue& named);
  void emit_value(DraftId d);
  core::Rhs apply(DraftId d, const Apply& a, ClockId clock);
  core::Rhs contraction(DraftId d, const core::Apply& a, ClockId clock);
  void count_from_start(core::Apply& made, const Apply& place, ClockId clock);
  core::Rhs merge(DraftId d, const Merge& m, ClockId clock);
  core::Rhs fby(DraftId d, const Fby& f, ClockId clock);
  core::Rhs index(DraftId d, const Index& i, ClockId clock);
  core::Rhs when(const When& w, ClockId clock);
  core::Rhs iterate(DraftId d, const Iterate& x, ClockId clock);
  core::Rhs result(const Result& x);
  void open_to_loading(const Parameter& parameter);
  void emit_interface();
  void emit_externals();

  const Draft& draft_;
  const States& states_;
  ShapeRules rules_;
  const Program& program_;
  const bool in_body_;  // true in the body of an iteration
  Diagnostics& diagnostics_;
  Core core_;
  ClockTable table_;
  std::vector<DraftId> end_;
  std::vector<bool> needed_;
  SameConditions same_{draft_, states_, end_};
  std::unordered_map<std::uint64_t, ValueId> conditions_;            // emitted conditions, by number and clock
  std::unordered_map<std::uint32_t, std::vector<DraftId>> written_;  // Boolean variables, by number of the condition
  std::vector<ValueId> emitted_;
  std::vector<ClockId> clocks_;
  std::unordered_map<std::string, ValueId> constants_;
  // Values of the first cycle and of the cycle number, by ClockId.
  std::unordered_map<std::uint32_t, ValueId> starts_, cycles_;
  std::unordered_map<const IteratorBody*, std::uint32_t> iterations_;  // external nodes of the iterations, by body
  std::unordered_map<std::uint32_t, std::vector<ValueId>> spread_;     // results of maps, by DraftId
};

// The value for which d stands once static values are known, or invalid.
DraftId Emitter::stands_for(DraftId d) const {
  if (state(d).constant != nullptr) return {};
  const auto same_shape = [&](DraftId of) { return state(of).shape == state(d).shape ? of : DraftId{}; };
  const auto truth = [&](DraftId c) { return state(c).constant->truth(); };
  const Rhs& rhs = draft_[d].rhs;
  if (const auto* declared = std::get_if<Declared>(&rhs)) return same_shape(declared->operand);
  if (const auto* w = std::get_if<When>(&rhs))
    if (state(w->condition).constant != nullptr && truth(w->condition) == w->positive) return w->operand;
  if (const auto* m = std::get_if<Merge>(&rhs))
    if (state(m->condition).constant != nullptr) return same_shape(truth(m->condition) ? m->on_true : m->on_false);
  return {};
}

Core Emitter::run() {
  end_ = follow(
      draft_.values.size(), [&](DraftId d) { return stands_for(d); },
      [&](const std::vector<DraftId>& cycle) { report_alias_cycle(draft_, program_, cycle, diagnostics_); });
  if (!diagnostics_.has_errors()) find_negated_cycles();
  if (diagnostics_.has_errors()) return std::move(core_);
  find_needed();
  emitted_.resize(draft_.values.size());
  core_.values.reserve(2 * draft_.values.size());  // with constants, which are states of the draft
  clocks_.resize(draft_.clocks.size());
  clocks_[base.index] = base_clock;
  clocks_[never.index] = never_clock;
  core_.instances = draft_.instances;
  for (std::uint32_t v = 0; v < draft_.values.size(); ++v) {
    if (!is_emitted(DraftId{v})) continue;
    emitted_[v] = ValueId{core_.values.size()};
    core_.values.push_back({{}, draft_.values[v].dtype, states_[v].shape, {}, {}, {}, {}});
  }
  emit_externals();
  note_conditions();
  for (std::uint32_t v = 0; v < draft_.values.size(); ++v)
    if (is_emitted(DraftId{v})) emit_value(DraftId{v});
  emit_interface();
  renumber(core_, std::vector<bool>(core_.values.size(), true));
  return std::move(core_);
}

// Reports `v = not w; w = not v`: conditions that are only negations of each other.
void Emitter::find_negated_cycles() {
  static const OperatorId logical_not = operators().require("logical_not");
  const auto next = [&](DraftId d) {
    if (draft_[d].dtype != DType::boolean || state(d).constant != nullptr) return DraftId{};
    if (end_[d.index] != d) return end_[d.index];
    if (const auto* when = std::get_if<When>(&draft_[d].rhs)) return when->operand;
    const auto* apply = std::get_if<Apply>(&draft_[d].rhs);
    return apply != nullptr && apply->op == logical_not ? apply->operands[0] : DraftId{};
  };
  follow(draft_.values.size(), next,
         [&](const std::vector<DraftId>& cycle) { report_value_cycle(draft_, program_, cycle, diagnostics_); });
}

// Finds the drafts to emit. Most parts of static arguments are left out, since only their shapes
// are read.
void Emitter::find_needed() {
  needed_.assign(draft_.values.size(), false);
  std::vector<bool> clocked(draft_.clocks.size(), false);
  std::vector<DraftId> work;
  const auto need = [&](DraftId d) {
    d = end_[d.index];
    if (needed_[d.index] || state(d).constant != nullptr) return;
    needed_[d.index] = true;
    work.push_back(d);
  };
  for (std::uint32_t v = 0; v < draft_.values.size(); ++v)
    if (!draft_.values[v].is_static) need(DraftId{v});
  for (const NamedValue& named : draft_.parameters) need(named.value);
  for (const Assertion& assertion : draft_.asserts) need(assertion.condition);
  while (!work.empty()) {
    const DraftId d = work.back();
    work.pop_back();
    for_each_mention(draft_[d].rhs, need);
    for (DraftClockId c = draft_[d].clock; !clocked[c.index] && draft_.clocks[c.index].parent.valid();
         c = draft_.clocks[c.index].parent) {
      clocked[c.index] = true;
      need(draft_.clocks[c.index].condition);
    }
  }
}

// The condition on a clock; equal conditions share one value.
Emitter::Condition Emitter::condition(DraftId d, bool positive, ClockId ck) {
  const SameConditions::Condition peeled = same_.peel(d, positive);
  if (peeled.constant) return {{}, peeled.positive, true};
  return {condition_on(peeled.value, ck), peeled.positive, false};
}

// The condition's value on the clock; if there is none, a sampling of its value on a clock above.
ValueId Emitter::condition_on(DraftId peeled, ClockId ck) {
  const std::uint32_t number = same_.number(peeled);
  const std::uint64_t key = std::uint64_t{number} << 32 | ck.index;
  if (const auto known = conditions_.find(key); known != conditions_.end()) return known->second;
  ValueId found;
  if (clock(draft_[peeled].clock) == ck) {
    found = emitted_[peeled.index];
  } else if (const auto written = written_.find(number); written != written_.end()) {
    const auto at = std::ranges::find_if(written->second, [&](DraftId d) { return clock(draft_[d].clock) == ck; });
    if (at != written->second.end()) found = emitted_[at->index];
  }
  if (!found.valid()) {
    const Clock sampled = core_[ck];
    const ValueId whole = condition_on(peeled, sampled.parent);
    const Place place{ck, draft_[peeled].span, draft_[peeled].instance};
    found = add(core::When{whole, sampled.condition, sampled.positive}, DType::boolean, {}, place);
  }
  return conditions_[key] = found;
}

void Emitter::note_conditions() {
  for (std::uint32_t v = 0; v < draft_.values.size(); ++v) {
    if (!is_emitted(DraftId{v}) || draft_.values[v].dtype != DType::boolean) continue;
    written_[same_.number(DraftId{v})].push_back(DraftId{v});
  }
  // Values on outer clocks first, since samplings follow their condition.
  const auto depth = [&](DraftId v) {
    std::size_t n = 0;
    for (DraftClockId c = draft_.values[v.index].clock; draft_.clocks[c.index].parent.valid();
         c = draft_.clocks[c.index].parent)
      ++n;
    return n;
  };
  for (auto& [number, list] : written_) std::ranges::stable_sort(list, {}, depth);
}

ClockId Emitter::clock(DraftClockId c) {
  std::vector<DraftClockId> chain;
  for (; !clocks_[c.index].valid(); c = draft_.clocks[c.index].parent) chain.push_back(c);
  ClockId result = clocks_[c.index];
  while (!chain.empty()) {
    const DraftClock& at = draft_.clocks[chain.back().index];
    const Condition sampled = result == never_clock ? Condition{} : condition(at.condition, at.positive, result);
    if (result == never_clock || (sampled.constant && !sampled.positive)) {
      result = never_clock;
    } else if (!sampled.constant) {
      result = table_.on(result, sampled.value, sampled.positive);
    }
    clocks_[chain.back().index] = result;
    chain.pop_back();
  }
  return result;
}

ValueId Emitter::add(core::Rhs rhs, DType dtype, Shape shape, const Place& place) {
  core_.values.push_back({std::move(rhs), dtype, std::move(shape), place.clock, place.span, place.instance, {}});
  return ValueId{core_.values.size() - 1};
}

// One value per constant; for ports, one per constant and clock.
ValueId Emitter::constant(const Tensor& tensor, ClockId clock) {
  ValueId& known = constants_[constant_key(tensor) + std::to_string(clock.index)];
  if (!known.valid() || std::get<core::Const>(core_[known].rhs).value != tensor)
    known = add(core::Const{tensor}, tensor.dtype(), tensor.shape(), {clock, {}, {}});
  return known;
}

// The constant, broadcast to a shape; invalid if it would be too large.
ValueId Emitter::repeated(const Tensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return constant(tensor);
  const auto elements = element_count(shape);
  return elements && *elements <= max_static_elements ? constant(broadcast_tensor(tensor, shape)) : ValueId{};
}

ValueId Emitter::operand(DraftId d) {
  d = end_[d.index];
  return state(d).constant != nullptr ? constant(*state(d).constant) : emitted_[d.index];
}

// The operand, broadcast to the shape of the result, on the given clock.
ValueId Emitter::operand(DraftId d, const Shape& shape, ClockId clock) {
  d = end_[d.index];
  if (state(d).shape == shape) return operand(d);
  if (state(d).constant != nullptr)
    if (const ValueId all = repeated(*state(d).constant, shape); all.valid()) return all;
  return broadcast_to(operand(d), shape, {clock, draft_[d].span, draft_[d].instance});
}

std::vector<ValueId> Emitter::operands(const std::vector<DraftId>& list) {
  std::vector<ValueId> ids;
  for (const DraftId d : list) ids.push_back(operand(d));
  return ids;
}

ValueId Emitter::broadcast_to(ValueId v, const Shape& shape, const Place& place) {
  const OperatorId op = operators().require("broadcast_to");
  return add(core::Apply{op, {v}, {integers_attribute(shape)}, 0}, core_[v].dtype, shape, place);
}

ValueId Emitter::start(ClockId clock) {
  const auto [known, is_new] = starts_.try_emplace(clock.index);
  if (is_new) {
    const ValueId yes = constant(Tensor::boolean(true)), no = constant(Tensor::boolean(false));
    known->second = add(core::Fby{yes, no}, DType::boolean, {}, {clock, {}, {}});
  }
  return known->second;
}

// The number of the cycle, sampled to a clock, for random draws.
ValueId Emitter::cycle(ClockId clock) {
  if (clock == never_clock) return constant(Tensor::scalar(DType::i64, std::int64_t{0}));
  if (const auto known = cycles_.find(clock.index); known != cycles_.end()) return known->second;
  ValueId made;
  if (clock == base_clock) {
    const ValueId zero = constant(Tensor::scalar(DType::i64, std::int64_t{0}));
    const ValueId one = constant(Tensor::scalar(DType::i64, std::int64_t{1}));
    made = add(core::Fby{zero, {}}, DType::i64, {}, {base_clock, {}, {}});
    const ValueId next =
        add(core::Apply{operators().require("add"), {made, one}, {}, 0}, DType::i64, {}, {base_clock, {}, {}});
    std::get<core::Fby>(core_[made].rhs).next = next;
  } else {
    const Clock c = core_[clock];
    const ValueId sampled = cycle(c.parent);
    made = add(core::When{sampled, c.condition, c.positive}, DType::i64, {}, {clock, {}, {}});
  }
  cycles_[clock.index] = made;
  return made;
}

void Emitter::emit_value(DraftId d) {
  const draft::Value& from = draft_[d];
  const ValueId id = emitted_[d.index];
  const ClockId ck = clock(from.clock);
  const auto* input = std::get_if<Input>(&from.rhs);
  const auto nothing = [](const auto&) { return core::Rhs(core::Const{}); };
  core::Rhs rhs;
  if (ck == never_clock && input == nullptr) {
    rhs = core::Const{Tensor(from.dtype, state(d).shape)};
  } else {
    rhs = std::visit(
        Overloaded{
            [&](const Alias& x) { return nothing(x); },
            [&](const Const& x) { return nothing(x); },  // constants are emitted at their uses
            [&](const Input& x) { return core::Rhs(core::Input{x.index}); },
            [&](const Apply& x) { return apply(d, x, ck); },
            [&](const Index& x) { return index(d, x, ck); },
            [&](const Declared& x) {
              return core::Rhs(core::Apply{
                  operators().require("broadcast_to"), {operand(x.operand)}, {integers_attribute(state(d).shape)}, 0});
            },
            [&](const Call& x) { return core::Rhs(core::Call{x.external, operands(x.operands)}); },
            [&](const Iterate& x) { return iterate(d, x, ck); },
            [&](const Result& x) { return result(x); },
            [&](const When& x) { return when(x, ck); },
            [&](const Merge& x) { return merge(d, x, ck); },
            [&](const Fby& x) { return fby(d, x, ck); },
            [&](const Post& x) { return core::Rhs(core::Post{operand(x.operand)}); },
        },
        from.rhs);
  }
  core_[id] = {std::move(rhs), from.dtype, state(d).shape, ck, from.span, from.instance, from.name};
}

core::Rhs Emitter::apply(DraftId d, const Apply& a, ClockId ck) {
  if (const auto element = uniform_element(operators()[a.op], draft_[d].dtype, state(d).shape))
    return core::Apply{
        operators().require("broadcast_to"), {constant(*element)}, {integers_attribute(state(d).shape)}, 0};
  core::Apply made{a.op, operands(a.operands), std::get<std::vector<Attribute>>(rules_.attributes(a)), 0};
  if (operators()[a.op].lowering == Lowering::place) count_from_start(made, a, ck);
  if (operators()[a.op].random) {
    made.operands.push_back(cycle(ck));
    made.key = a.key;
  }
  if (is_joint(a.op)) made.key = a.key;
  if (mapped::is_over_elements(a.op) && !in_body_) return reshaped(made.operands[0], state(d).shape);
  return operators()[a.op].lowering == Lowering::contraction ? contraction(d, made, ck) : made;
}

// Counts negative static indices from the start. The gradient of x[-1] places its adjoint at such
// an index.
void Emitter::count_from_start(core::Apply& made, const Apply& place, ClockId ck) {
  for (std::size_t k = 1; k < made.operands.size(); ++k) {
    const auto& at = state(end_[place.operands[k].index]).constant;
    const std::int64_t extent = made.attributes[0].integers[k - 1];
    if (at == nullptr || at->integers()[0] >= 0 || at->integers()[0] + extent < 0) continue;
    const std::int64_t counted = at->integers()[0] + extent;
    const Tensor index = Tensor::number(at->dtype(), static_cast<double>(counted));
    if (index.integers()[0] == counted) made.operands[k] = constant(index, ck);
  }
}

core::Rhs Emitter::contraction(DraftId d, const core::Apply& a, ClockId ck) {
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  for (const ValueId v : a.operands) dtypes.push_back(core_[v].dtype), shapes.push_back(core_[v].shape);
  const DType dtype = draft_[d].dtype;
  const auto found = contraction_of(operators()[a.op], {dtypes, shapes, a.attributes, dtype});
  const Place place{ck, draft_[d].span, draft_[d].instance};
  const ValueId value = write_contraction(
      std::get<Contraction>(found), a.operands, constant(Tensor(dtype, {}), ck),
      [&](const char* op, std::vector<ValueId> operands, std::vector<Attribute> attributes, Shape shape) {
        return add(core::Apply{operators().require(op), std::move(operands), std::move(attributes), 0}, dtype,
                   std::move(shape), place);
      });
  return core::Apply{operators().require("reshape"), {value}, {integers_attribute(state(d).shape)}, 0};
}

core::Rhs Emitter::when(const When& w, ClockId ck) {
  const Condition sampled = condition(w.condition, w.positive, core_[ck].parent);
  return core::When{operand(w.operand), sampled.value, sampled.positive};
}

core::Rhs Emitter::merge(DraftId d, const Merge& m, ClockId ck) {
  const Condition c = condition(m.condition, true, ck);
  const Shape& shape = state(d).shape;
  if (c.constant) {  // the branch is smaller than the result, else d would stand for it
    const ValueId branch = operand(c.positive ? m.on_true : m.on_false);
    return core::Apply{operators().require("broadcast_to"), {branch}, {integers_attribute(shape)}, 0};
  }
  const auto branch = [&](DraftId b, bool truth) { return operand(b, shape, table_.on(ck, c.value, truth)); };
  const ValueId on_true = branch(m.on_true, c.positive), on_false = branch(m.on_false, !c.positive);
  return c.positive ? core::Merge{c.value, on_true, on_false} : core::Merge{c.value, on_false, on_true};
}

core::Rhs Emitter::fby(DraftId d, const Fby& f, ClockId ck) {
  const Shape& shape = state(d).shape;
  ValueId init = operand(f.init, shape, ck);
  const ValueId next = operand(f.next, shape, ck);
  if (!core_.is_const(init) || !state(end_[f.init.index]).constant) {
    const ValueId first = start(ck);
    init = add(core::When{init, first, true}, draft_[d].dtype, shape,
               {table_.on(ck, first, true), draft_[f.init].span, draft_[f.init].instance});
  }
  return core::Fby{init, next};
}

// First ranges and static indices, by slice and reshape; then dynamic indices, by `index` on the
// leading axes.
core::Rhs Emitter::index(DraftId d, const Index& i, ClockId ck) {
  const auto axes = std::get<std::vector<IndexAxis>>(rules_.index_axes(d));
  const Place place{ck, draft_[d].span, draft_[d].instance};
  const DType dtype = draft_[d].dtype;
  Shape whole = state(end_[i.operand.index]).shape;
  std::vector<std::int64_t> moved, kept;
  Shape sliced, dropped;
  std::vector<ValueId> dynamic;
  DType index_dtype = DType::i64;
  for (const IndexAxis& axis : axes) {
    const bool all = axis.kind == IndexAxis::dynamic;
    sliced.push_back(all ? whole[sliced.size()] : axis.count);
    if (axis.kind == IndexAxis::fixed) continue;
    (all ? moved : kept).push_back(static_cast<std::int64_t>(dropped.size()));
    dropped.push_back(sliced.back());
    if (!all) continue;
    dynamic.push_back(operand(axis.at));
    index_dtype = core_[dynamic.back()].dtype;
  }
  ValueId at = operand(i.operand);
  core::Apply step{0, {at}, {}, 0};
  Shape shape = whole;
  bool pending = false;  // true while `step` is not emitted yet; its shape is `shape`
  const auto next = [&](const char* name, std::vector<ValueId> operands, std::vector<Attribute> attributes,
                        Shape result) {
    if (pending) at = add(step, dtype, shape, place);
    operands.insert(operands.begin(), at);
    step = {operators().require(name), std::move(operands), std::move(attributes), 0};
    shape = std::move(result);
    pending = true;
  };
  const std::vector<Attribute> bounds = slice_bounds(axes, whole);
  if (sliced != whole || bounds.back().given) next("slice", {}, bounds, sliced);
  if (dropped != sliced) next("reshape", {}, {integers_attribute(dropped)}, dropped);
  if (!dynamic.empty() && !kept.empty() && kept.front() < moved.back()) {
    std::vector<std::int64_t> order = moved;
    order.insert(order.end(), kept.begin(), kept.end());
    Shape permuted;
    for (const std::int64_t axis : order) permuted.push_back(dropped[static_cast<std::size_t>(axis)]);
    Attribute inverse = integers_attribute({0});
    inverse.scalar = true;
    next("transpose", {}, {integers_attribute(order), inverse}, permuted);
  }
  if (!dynamic.empty()) {
    for (ValueId& v : dynamic) {
      if (core_[v].dtype == index_dtype) continue;
      Attribute to;
      to.given = true;
      to.dtype = index_dtype;
      v = add(core::Apply{operators().require("cast"), {v}, {to}, 0}, index_dtype, {}, place);
    }
    next("index", dynamic, {}, state(d).shape);
  }
  if (!pending) next("reshape", {}, {integers_attribute(whole)}, whole);
  return step;
}

void Emitter::emit_externals() {
  for (const External& external : draft_.externals) {
    ExternalNode node{external.symbol, {}, {}, external.span};
    const auto types = [&](const std::vector<DType>& dtypes, const std::vector<std::vector<DraftId>>& shapes,
                           auto& out) {
      for (std::size_t k = 0; k < dtypes.size(); ++k)
        out.emplace_back(dtypes[k], std::get<Shape>(rules_.extents(shapes[k], {})));
    };
    types(external.inputs, external.input_shapes, node.inputs);
    types(external.outputs, external.output_shapes, node.outputs);
    core_.externals.push_back(std::move(node));
  }
}

core::Rhs Emitter::iterate(DraftId d, const Iterate& x, ClockId ck) {
  const IteratorBody& body = *rules_.iterated(x);
  std::vector<ValueId> operands;
  for (std::size_t k = 0; k < body.passed.size(); ++k)
    operands.push_back(operand(x.operands[body.passed[k]], body.external.inputs[k].second, ck));
  if (body.spreading) {
    mapped::Surroundings around{core_,
                                table_,
                                [this](const Tensor& t, const Shape& s) { return repeated(t, s); },
                                [this](ClockId c) { return start(c); },
                                [this](ClockId c) { return cycle(c); },
                                in_body_};
    // In the body of another iteration, the dependence may go through values around that
    // iteration.
    const bool may_come_back = in_body_ || comes_back(draft_, end_, d);
    const mapped::SpreadAt at{ck, draft_[d].span, draft_[d].instance, std::move(operands), may_come_back};
    spread_[d.index] = mapped::spread(*body.spreading, at, around);
    return core::Const{Tensor(draft_[d].dtype, state(d).shape)};  // only the call's results are read
  }
  const auto [known, is_new] = iterations_.try_emplace(&body, core_.externals.size());
  if (is_new) core_.externals.push_back(body.external);
  return core::Call{known->second, std::move(operands)};
}

core::Rhs Emitter::result(const Result& x) {
  const auto known = spread_.find(x.call.index);
  if (known == spread_.end()) return core::Result{operand(x.call), x.output};
  return reshaped(known->second[x.output], core_[known->second[x.output]].shape);
}

ValueId Emitter::port(const NamedValue& named) {
  const DraftId d = end_[named.value.index];
  return state(d).constant != nullptr ? constant(*state(d).constant, clock(named.clock)) : emitted_[d.index];
}

// p = init fby …  =>  p = param(init) fby …: a value loaded for the parameter's path replaces
// init.
void Emitter::open_to_loading(const Parameter& parameter) {
  const core::Rhs rhs = core_[parameter.value].rhs;
  const auto* f = std::get_if<core::Fby>(&rhs);
  if (f == nullptr) return;
  const rml::Value held = core_[parameter.value];
  const Place place{table_.on(held.clock, start(held.clock), true), held.span, held.instance};
  const ValueId init = add(core::Apply{operators().require("param"), {f->init}, {}, path_key(parameter.path)},
                           held.dtype, held.shape, place);
  core_[parameter.value].rhs = core::Fby{init, f->next};
}

void Emitter::emit_interface() {
  const auto ports = [&](const std::vector<NamedValue>& from, std::vector<Port>& to) {
    for (const NamedValue& named : from) to.push_back({named.name, port(named), named.span});
  };
  ports(draft_.inputs, core_.inputs);
  ports(draft_.outputs, core_.outputs);
  ports(draft_.watches, core_.watches);
  for (const NamedValue& named : draft_.parameters) {
    core_.parameters.push_back({named.name, port(named)});
    open_to_loading(core_.parameters.back());
  }
  for (const Assertion& assertion : draft_.asserts) {
    const ValueId condition = port({"", assertion.condition, assertion.clock, assertion.span});
    const bool holds = core_.is_const(condition) && std::get<core::Const>(core_[condition].rhs).value.truth();
    if (holds || core_[condition].clock == never_clock) continue;
    core_.asserts.push_back({condition, assertion.message, assertion.span});
  }
}

}  // namespace

Core emit(const Draft& draft, const States& states, const Program& program, bool in_body, Diagnostics& diagnostics) {
  return Emitter(draft, states, program, in_body, diagnostics).run();
}

}  // namespace rml::draft
