// Rewrites draws, then the instances of the library `steps`, into calls of the runtime.
#include "semantics/time/put_on_ranks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "semantics/core/queries.h"
#include "semantics/time/collectives.h"

namespace rml {

namespace {

class RankWriter {
 public:
  RankWriter(Core& core, const Deal& deal)
      : core_(core), collectives_(core), deal_(deal), end_(core.inputs[deal.end].value) {}

  void run() {
    draw_by_row();
    for (std::size_t i = 0; i < core_.instances.size(); ++i)
      if (collectives_.is_inside(InstanceId{i})) write_instance(InstanceId{i});
  }

 private:
  // Clock, place and instance of new values: those of the value that they replace.
  struct At {
    ClockId clock;
    Span span;
    InstanceId instance;
  };
  At at(ValueId v) const { return {core_[v].clock, core_[v].span, core_[v].instance}; }

  ValueId add(core::Rhs rhs, DType dtype, Shape shape, const At& at) {
    core_.values.push_back({std::move(rhs), dtype, std::move(shape), at.clock, at.span, at.instance, {}});
    return ValueId{core_.values.size() - 1};
  }
  ValueId number(DType dtype, std::uint64_t value) {
    return add(core::Const{Tensor::number(dtype, static_cast<double>(value))}, dtype, {}, {base_clock, {}, {}});
  }
  ValueId apply(const char* op, std::vector<ValueId> operands, DType dtype, const At& at,
                std::vector<Attribute> attributes = {}, Shape shape = {}) {
    return add(core::Apply{operators().require(op), std::move(operands), std::move(attributes), 0}, dtype,
               std::move(shape), at);
  }
  static core::Apply cast(ValueId v, DType to) {
    Attribute attribute;
    attribute.given = true;
    attribute.dtype = to;
    return {operators().require("cast"), {v}, {attribute}, 0};
  }

  // A memory that begins at `init` and increases by one at each instant.
  ValueId counter(ValueId init, const At& at) {
    const DType dtype = core_[init].dtype;
    const ValueId own = add(core::Fby{init, {}}, dtype, {}, at);
    const ValueId next = apply("add", {own, number(dtype, 1)}, dtype, at);
    std::get<core::Fby>(core_[own].rhs).next = next;
    return own;
  }

  // The single result of a call of the runtime, as a right-hand side.
  core::Result call(const char* symbol, Calling calling, std::vector<ValueId> operands, DType dtype, const Shape& shape,
                    const At& at) {
    ExternalNode external{symbol, {}, {{dtype, shape}}, at.span, nullptr, calling};
    for (const ValueId v : operands) external.inputs.emplace_back(core_[v].dtype, core_[v].shape);
    const auto index = static_cast<std::uint32_t>(core_.externals.size());
    core_.externals.push_back(std::move(external));
    return {add(core::Call{index, std::move(operands)}, dtype, shape, at), 0};
  }

  // Makes a scalar a tensor of one element, because the runtime's collective functions take an
  // address.
  ValueId in_memory(ValueId v, const At& at) {
    if (!core_[v].shape.empty()) return v;
    Attribute shape;
    shape.given = true;
    shape.integers = {1};
    return apply("reshape", {v}, core_[v].dtype, at, {shape}, {1});
  }
  // Writes a call of a collective function on v.
  core::Result join(const char* symbol, ValueId v, std::vector<ValueId> more, const At& at) {
    const DType dtype = core_[v].dtype;
    const Shape shape = core_[v].shape;
    std::vector<ValueId> operands{number(DType::u32, sites_++), number(DType::u8, static_cast<std::uint64_t>(dtype)),
                                  number(DType::u64, static_cast<std::uint64_t>(*element_count(shape))),
                                  in_memory(v, at)};
    operands.insert(operands.end(), more.begin(), more.end());
    return call(symbol, Calling::joins, std::move(operands), dtype, shape, at);
  }

  // ---- micro-batches ----

  struct Place {
    // `micro_batch`: its number in the whole input. `ends`: true if no later micro-batch of the
    // step is on this rank.
    ValueId micro_batch, ends;
  };
  // The number of the current micro-batch, and whether it is this rank's last one of the step, on the clock of v.
  const Place& place(ValueId v) {
    if (place_) return *place_;
    const At here = at(v);
    const ValueId own = counter(number(DType::u64, 0), here);
    const ValueId micro_batch =
        add(call("rml_micro_batch", Calling::asks, {own}, DType::u64, {}, here), DType::u64, {}, here);
    const ValueId ends = add(call("rml_step_ends", Calling::asks, {number(DType::u32, deal_.per_step), micro_batch},
                                  DType::boolean, {}, here),
                             DType::boolean, {}, here);
    return place_.emplace(Place{micro_batch, ends});
  }
  core::Result step_sum(ValueId v, const At& here) {
    const ValueId micro_batch = place(v).micro_batch;
    return join("rml_step_sum", v, {number(DType::u32, deal_.per_step), micro_batch}, here);
  }

  // ---- the library ----

  // The right-hand side of a value of the library, which must be of this form.
  template <class Form>
  const Form& part(ValueId v) const {
    const auto* form = std::get_if<Form>(&core_[v].rhs);
    if (form == nullptr) throw std::logic_error("put_on_ranks: unexpected equations in the library `steps`");
    return *form;
  }

  void write_instance(InstanceId i) {
    switch (core_.instances[i.index].steps) {
      case StepsNode::ends:
        return write_ends(i);
      case StepsNode::all_sum:
        write_last(i);
        return write_sum(i);
      case StepsNode::gradient:
        return write_sum(i);
      case StepsNode::rank:
        return ask_number(i, "rml_rank");
      case StepsNode::ranks:
        return ask_number(i, "rml_rank_count");
      case StepsNode::broadcast:
        return write_broadcast(i);
      case StepsNode::all_mean:  // calls all_sum
      case StepsNode::gathered:  // part of a sum
      case StepsNode::other:
      case StepsNode::none:
        return;
    }
  }

  // last = merge end (k == n - 1) false
  void write_last(InstanceId i) {
    const ValueId output = collectives_.port(i, "last");
    if (!output.valid()) return;
    const ValueId last = part<core::Merge>(output).on_true;
    const ValueId ends = place(last).ends;
    const ValueId always = add(core::Const{Tensor::boolean(true)}, DType::boolean, {}, {base_clock, {}, {}});
    core_[last].rhs = core::Apply{operators().require("logical_and"), {ends, always}, {}, 0};
  }

  void write_sum(InstanceId i) {
    for (std::size_t v = 0, n = core_.values.size(); v < n; ++v) {
      const core::Apply* const sum =
          core_[ValueId{v}].instance == i ? apply_of(core_, ValueId{v}, "tree_sum") : nullptr;
      if (sum == nullptr) continue;
      const InstanceId gathered = core_[sum->operands[0]].instance;
      const ValueId e = collectives_.port(gathered, "e");
      core::Result result = step_sum(e, at(ValueId{v}));
      core_[ValueId{v}].rhs = result;
    }
  }

  // moves = merge end (found and k == n - 1) false; found = … or (had when end)
  void write_ends(InstanceId i) {
    const ValueId k = collectives_.port(i, "k"), moves = collectives_.port(i, "moves");
    if (!k.valid() || !moves.valid() || !std::holds_alternative<core::Merge>(core_[moves].rhs)) return;
    const ValueId found = part<core::Apply>(part<core::Merge>(moves).on_true).operands.front();
    const At here = at(k);
    const Place& micro_batch = place(k);
    const ValueId count = number(DType::u64, deal_.per_step);
    const ValueId slot = apply("mod", {micro_batch.micro_batch, count}, DType::u64, here);
    core_[k].rhs = cast(slot, core_[k].dtype);
    ValueId any = found;
    if (constant_truth(core_, collectives_.port(i, "act")) != true) any = found_by_any(found, here);
    const ValueId moving = apply("logical_and", {any, micro_batch.ends}, DType::boolean, here);
    std::get<core::Merge>(core_[moves].rhs).on_true = moving;
  }

  // True if the condition held in some micro-batch of the step, on any rank.
  ValueId found_by_any(ValueId found, const At& here) {
    const ValueId had = part<core::When>(part<core::Apply>(found).operands.back()).operand;
    const ValueId mine = add(core::When{had, end_, true}, DType::boolean, {}, here);
    const ValueId one = add(cast(mine, DType::i32), DType::i32, {}, here);
    const ValueId sum = add(step_sum(one, here), DType::i32, {}, here);
    return apply("gt", {sum, number(DType::i32, 0)}, DType::boolean, here);
  }

  void ask_number(InstanceId i, const char* symbol) {
    const ValueId v = collectives_.port(i, "r");
    if (!v.valid()) return;
    const At here = at(v);
    const ValueId found = add(call(symbol, Calling::asks, {}, DType::u32, {}, here), DType::u32, {}, here);
    core_[v].rhs = cast(found, core_[v].dtype);
  }

  void write_broadcast(InstanceId i) {
    const ValueId sent = collectives_.port(i, "sent");
    if (!sent.valid()) return;
    const ValueId e = collectives_.port(i, "e");
    core::Result result = join("rml_from_first", e, {}, at(sent));
    core_[sent].rhs = result;
  }

  // ---- draws ----

  bool is_draw(ValueId v) const {
    const core::Apply* const a = apply_of(core_, v);
    return a != nullptr && operators()[a->op].random;
  }

  // Draws depend on the number of the cycle; this replaces it by the number of the row among all
  // ranks. Before, draws for the first cycle only get their own copies, with this rank's cycle
  // number.
  void draw_by_row() {
    const std::size_t n = core_.values.size();
    ValueId cycle;
    for (std::size_t v = 0; v < n && !cycle.valid(); ++v)
      if (is_draw(ValueId{v})) cycle = cycle_of(ValueId{v});  // none if the draw is never present
    if (!cycle.valid()) return;
    // The new counter replaces the old one; users of the old one read the row's number instead.
    const At here = at(cycle);
    const ValueId own = own_cycle_ = counter(std::get<core::Fby>(core_[cycle].rhs).init, here);
    for (std::size_t v = 0; v < n; ++v) {
      const auto* when = std::get_if<core::When>(&core_[ValueId{v}].rhs);
      if (when == nullptr || !when->positive || !is_start(core_, when->condition)) continue;
      const ValueId first = drawn_first(when->operand);
      std::get<core::When>(core_[ValueId{v}].rhs).operand = first;
    }
    core::Result row = call("rml_global_row", Calling::asks, {own}, DType::i64, {}, here);
    core_[cycle].rhs = row;
  }

  ValueId cycle_of(ValueId draw) const {
    ValueId v = std::get<core::Apply>(core_[draw].rhs).operands.back();
    while (const auto* when = std::get_if<core::When>(&core_[v].rhs)) v = when->operand;
    return std::holds_alternative<core::Fby>(core_[v].rhs) ? v : ValueId{};
  }

  // v with the draws of this rank's own first cycle; v itself if it contains no draw.
  ValueId drawn_first(ValueId v) {
    if (const auto known = first_.find(v); known != first_.end()) return known->second;
    first_[v] = v;
    if (std::holds_alternative<core::Fby>(core_[v].rhs) || std::holds_alternative<core::Post>(core_[v].rhs)) return v;
    Value copy = core_[v];
    bool other = false;
    if (is_draw(v)) {
      ValueId& cycle = std::get<core::Apply>(copy.rhs).operands.back();
      cycle = own_cycle_on(cycle);
      other = true;
    } else {
      const auto replace = [&](ValueId& operand) {
        const ValueId first = drawn_first(operand);
        other = other || first != operand;
        operand = first;
      };
      // Conditions contain no draws (check_ranks).
      if (auto* when = std::get_if<core::When>(&copy.rhs)) {
        replace(when->operand);
      } else if (auto* merge = std::get_if<core::Merge>(&copy.rhs)) {
        replace(merge->on_true);
        replace(merge->on_false);
      } else {
        for_each_operand(copy.rhs, replace);
      }
    }
    if (!other) return v;
    core_.values.push_back(std::move(copy));
    return first_[v] = ValueId{core_.values.size() - 1};
  }

  // The counter, sampled like the given sampling of the cycle.
  ValueId own_cycle_on(ValueId sampled) {
    const auto* when = std::get_if<core::When>(&core_[sampled].rhs);
    if (when == nullptr) return own_cycle_;
    Value copy = core_[sampled];
    const ValueId operand = own_cycle_on(when->operand);
    std::get<core::When>(copy.rhs).operand = operand;
    core_.values.push_back(std::move(copy));
    return ValueId{core_.values.size() - 1};
  }

  Core& core_;
  const Collectives collectives_;
  const Deal deal_;
  const ValueId end_;
  std::optional<Place> place_;
  std::uint32_t sites_ = 0;
  ValueId own_cycle_;
  std::map<ValueId, ValueId> first_;
};

std::optional<std::int64_t> count_of(const Core& core) {
  const Collectives collectives(core);
  for (const CollectiveCall& c : collectives.list())
    if (c.count.valid())
      if (const auto* n = std::get_if<core::Const>(&core[c.count].rhs)) return n->value.integers()[0];
  return core.dealt->count;
}

}  // namespace

Core put_on_ranks(Core core, Diagnostics& diagnostics) {
  if (!core.dealt) return core;
  const auto count = count_of(core);
  if (!count || *count < 1 || *count > most_per_step) {
    diagnostics
        .report(Code::E1001, core.dealt->span,
                count ? "a step on ranks has 1 to " + std::to_string(most_per_step) + " micro-batches, not " +
                            std::to_string(*count)
                      : "the number of micro-batches in a step is not known",
                "the step of these rows")
        .note("write a number or a constant after `by`");
    return core;
  }
  const Deal deal{core.dealt->end, static_cast<std::uint32_t>(*count)};
  RankWriter(core, deal).run();
  core.deal = deal;
  return core;
}

}  // namespace rml
