// Writes values outside the iteration for the values of the body.
//
// The body is first transformed so that its parts (parts.h) have no memory. Each value outside
// the parts gets an id in the surrounding core, and then its right-hand side, because delays may
// form cycles. A part becomes an iteration; if it consists of operators on elements, it becomes
// the same operators on all elements:
//
//   y = s + a * (x - s)      x, s: [n]      y = add(s, mul(a, sub(x, s)))
#include "semantics/spread/spread.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "semantics/core/attributes.h"
#include "semantics/core/queries.h"
#include "semantics/spread/at_once.h"
#include "semantics/spread/hold_sampled.h"
#include "semantics/spread/part_body.h"

namespace rml::mapped {

namespace {

// The attributes of a reduction over all elements.
std::vector<Attribute> along_elements() {
  Attribute axis = integers_attribute({0}), keepdims = integers_attribute({0});
  axis.scalar = keepdims.scalar = true;
  return {axis, keepdims};
}

// A call that may fail is kept even if no result is read. It gets one of them, because the results of a part are
// values.
void read_every_call(Core& body) {
  std::vector<bool> read(body.values.size(), false);
  for (const rml::Value& v : body.values)
    if (const auto* result = std::get_if<core::Result>(&v.rhs)) read[result->call.index] = true;
  for (std::size_t v = 0; v < read.size(); ++v) {
    const auto* call = std::get_if<core::Call>(&body.values[v].rhs);
    if (call == nullptr || read[v] || body.externals[call->external].outputs.empty()) continue;
    rml::Value result = body.values[v];
    std::tie(result.dtype, result.shape) = body.externals[call->external].outputs[0];
    result.rhs = core::Result{ValueId{v}, 0};
    body.values.push_back(std::move(result));
  }
}

// The body with memory only on clocks that are the same for all elements, and with operands
// first.
Core prepared(const Core& given, std::size_t sequences) {
  Core body = remove_unreachable(given);
  hold_sampled(body, Elements(body, sequences));
  renumber(body, std::vector<bool>(body.values.size(), true));
  body = remove_unreachable(std::move(body));
  read_every_call(body);
  return body;
}

class Spreader {
 public:
  Spreader(const Spreading& what, const SpreadAt& at, Surroundings& around)
      : what_(what),
        at_(at),
        around_(around),
        body_(prepared(*what.body, what.sequences)),
        elements_(body_, what.sequences),
        parts_(find_parts(body_, elements_, at.comes_back)),
        places_(body_.values.size()),
        clocks_(body_.clocks.size()) {}

  std::vector<ValueId> run() {
    clocks_[base_clock.index] = at_.clock;
    clocks_[never_clock.index] = never_clock;
    add_instances();
    for (std::size_t v = 0; v < body_.values.size(); ++v) place(ValueId{v});
    write_parts();
    for (std::size_t v = 0; v < body_.values.size(); ++v) write(ValueId{v});
    for (const Parameter& p : body_.parameters)
      if (!belongs_to_part(p.value)) core().parameters.push_back({p.path, places_[p.value.index]});
    for (const CoreAssert& check : body_.asserts) write(check);
    for (const Port& watch : body_.watches)
      if (stands_outside(watch.value)) core().watches.push_back({watch.name, places_[watch.value.index], watch.span});
    std::vector<ValueId> results;
    for (const Port& output : body_.outputs) results.push_back(stack(output.value, at_.clock));
    return results;
  }

 private:
  Core& core() { return around_.core; }
  bool is_stacked(ValueId v) const {
    return parts_.stands[v.index] == Stand::stacked || parts_.stands[v.index] == Stand::inside;
  }
  Shape stacked(const Shape& element) const {
    Shape shape = element;
    shape.insert(shape.begin(), what_.length);
    return shape;
  }

  // Stopped values in the body of an iteration are listed there. A constant has no gradient
  // anyway.
  bool belongs_to_part(ValueId v) const {
    return body_.is_const(v) || (parts_.stands[v.index] == Stand::inside &&
                                 std::ranges::find(at_once_, parts_.part[v.index]) == at_once_.end());
  }

  // True if the value exists for all elements at every instant of a clock outside.
  bool stands_outside(ValueId v) const { return places_[v.index].valid() && !elements_.differs(body_[v].clock); }

  // ---- places ----

  // Copies the instances of the body. The first of them is the node called for each element.
  void add_instances() {
    first_instance_ = core().instances.size();
    for (std::size_t i = 0; i < body_.instances.size(); ++i) {
      Instance instance = body_.instances[i];
      instance.parent = i == 0 ? at_.instance : InstanceId{first_instance_ + instance.parent.index};
      core().instances.push_back(std::move(instance));
    }
  }

  ValueId add(core::Rhs rhs, DType dtype, Shape shape, ClockId clock, Span span) {
    core().values.push_back({std::move(rhs), dtype, std::move(shape), clock, span, at_.instance, {}});
    return ValueId{core().values.size() - 1};
  }
  ValueId apply(const char* op, std::vector<ValueId> operands, std::vector<Attribute> attributes, ValueId like,
                Shape shape) {
    const rml::Value of = core()[like];
    return add(core::Apply{operators().require(op), std::move(operands), std::move(attributes), 0}, of.dtype,
               std::move(shape), of.clock, of.span);
  }

  // Gives v an id outside; its right-hand side follows later.
  void place(ValueId v) {
    const rml::Value& of = body_[v];
    const Stand stand = parts_.stands[v.index];
    if (stand == Stand::constant || stand == Stand::inside) return;
    if (const auto* input = std::get_if<core::Input>(&of.rhs)) {
      places_[v.index] = at_.operands[input->index];
    } else if (is_start(body_, v)) {
      places_[v.index] = around_.start(clock(of.clock));
    } else {
      places_[v.index] = made(v, {}, stand == Stand::once ? of.shape : stacked(of.shape));
    }
  }

  // A new value with the name and place of v.
  ValueId made(ValueId v, core::Rhs rhs, Shape shape) {
    const rml::Value& of = body_[v];
    const ValueId made = add(std::move(rhs), of.dtype, std::move(shape), clock(elements_.home(of.clock)), of.span);
    core()[made].name = of.name;
    if (of.instance.valid()) core()[made].instance = InstanceId{first_instance_ + of.instance.index};
    return made;
  }

  // The clock outside. Conditions are placed before the values that they sample.
  ClockId clock(ClockId c) {
    for (const ClockId at : path_to(body_, c)) {
      if (clocks_[at.index].valid()) continue;
      const Clock& of = body_[at];
      clocks_[at.index] = around_.clocks.on(clocks_[of.parent.index], once(of.condition), of.positive);
    }
    return clocks_[c.index];
  }

  // ---- values of the body, outside ----

  ValueId once(ValueId v) {
    return body_.is_const(v) ? around_.constant(constant_of(v), body_[v].shape) : places_[v.index];
  }

  const Tensor& constant_of(ValueId v) const { return std::get<core::Const>(body_[v].rhs).value; }

  // The value stacked over the elements, even if it is the same for all, on the clock of its
  // reader.
  ValueId stack(ValueId v, ClockId clock) {
    if (is_stacked(v)) return places_[v.index];
    ValueId& known = stacks_[{v, body_.is_const(v) ? clock : base_clock}];
    if (known.valid()) return known;
    const Shape shape = stacked(body_[v].shape);
    if (body_.is_const(v)) known = around_.constant(constant_of(v), shape);
    if (known.valid()) return known;
    return known = add(core::Apply{operators().require("broadcast_to"), {once(v)}, {integers_attribute(shape)}, 0},
                       body_[v].dtype, shape, clock, body_[v].span);
  }

  // The initial value of a delay of stacked values. A constant too large to repeat becomes a
  // stream.
  ValueId first(ValueId init, ClockId clock) {
    const ValueId begin = around_.start(clock);
    const ClockId first = around_.clocks.on(clock, begin, true);
    return stack(init, first);
  }

  // ---- right-hand sides ----

  void write(ValueId v) {
    const Stand stand = parts_.stands[v.index];
    const core::Rhs& rhs = body_[v].rhs;
    if (stand == Stand::constant || stand == Stand::inside || std::holds_alternative<core::Input>(rhs) ||
        is_start(body_, v))
      return;
    core::Rhs written = stand == Stand::once ? written_once(v) : written_stacked(v);
    core()[places_[v.index]].rhs = std::move(written);
  }

  core::Rhs written_once(ValueId v) {
    core::Rhs rhs = body_[v].rhs;
    if (auto* apply = std::get_if<core::Apply>(&rhs)) {
      if (elements_.is_own(*apply))
        return of_maps_around(v, *apply, reshaped(once(apply->operands[0]), body_[v].shape));
      if (is_over_elements(apply->op)) return of_maps_around(v, *apply, summed(v, apply->operands[0]));
      if (operators()[apply->op].random) return drawn(v, *apply);
    }
    for_each_operand(rhs, [&](ValueId& o) { o = once(o); });
    if (auto* call = std::get_if<core::Call>(&rhs)) {
      const std::uint32_t external = call->external;
      call->external = static_cast<std::uint32_t>(core().externals.size());
      core().externals.push_back(body_.externals[external]);
    }
    return rhs;
  }

  core::Rhs summed(ValueId v, ValueId operand) {
    const bool is_truth = body_[v].dtype == DType::boolean;
    if (is_truth && !is_stacked(operand)) return reshaped(once(operand), body_[v].shape);
    const ValueId all = stack(operand, clock(body_[v].clock));
    return core::Apply{operators().require(is_truth ? "any" : "sum"), {all}, along_elements(), 0};
  }

  // The sum over this map, extended over the enclosing maps that share the parameter.
  core::Rhs of_maps_around(ValueId v, const core::Apply& apply, core::Rhs all) {
    if (!is_over_sharers(apply.op) || apply.attributes[0].integers[0] == 1 || !around_.is_body) return all;
    const bool own = is_stacked(v);
    const ClockId at = clock(body_[v].clock);
    const ValueId p = own ? stack(apply.operands[1], at) : once(apply.operands[1]);
    const ValueId x =
        add(std::move(all), body_[v].dtype, own ? stacked(body_[v].shape) : body_[v].shape, at, body_[v].span);
    std::vector<Attribute> maps = apply.attributes;
    --maps[0].integers[0];
    return core::Apply{apply.op, {x, p}, std::move(maps), 0};
  }

  core::Rhs drawn(ValueId v, core::Apply draw) {
    if (is_stacked(v)) {
      // fan_in and fan_out are those of a single element.
      if (const auto scaled = operators()[draw.op].scaled_draw; scaled != nullptr) {
        const ScaledDraw plain = scaled(body_[v].shape);
        draw.op = operators().require(plain.normal ? "normal" : "uniform");
        draw.attributes.resize(3);
        draw.attributes[1].given = draw.attributes[2].given = true;
        draw.attributes[1].number = plain.first;
        draw.attributes[2].number = plain.second;
      }
      draw.attributes[0] = integers_attribute(stacked(body_[v].shape));
    }
    draw.operands = {around_.cycle(clock(body_[v].clock))};
    return draw;
  }

  core::Rhs written_stacked(ValueId v) {
    const core::Rhs& rhs = body_[v].rhs;
    const ClockId at = clock(body_[v].clock);
    if (const auto* apply = std::get_if<core::Apply>(&rhs)) {
      if (is_over_sharers(apply->op)) {
        const ValueId x = stack(apply->operands[0], at);
        return of_maps_around(v, *apply, reshaped(x, stacked(body_[v].shape)));
      }
      if (apply_of(body_, v, Lowering::parameter) == nullptr) return drawn(v, *apply);
      return core::Apply{apply->op, {stack(apply->operands[0], at)}, apply->attributes, apply->key};
    }
    if (const auto* f = std::get_if<core::Fby>(&rhs)) {
      const ValueId init = first(f->init, at);
      return core::Fby{init, stack(f->next, at)};
    }
    if (const auto* post = std::get_if<core::Post>(&rhs)) return core::Post{stack(post->operand, at)};
    if (const auto* w = std::get_if<core::When>(&rhs))
      return core::When{stack(w->operand, around_.core[at].parent), once(w->condition), w->positive};
    const core::Merge m = std::get<core::Merge>(rhs);
    const ValueId condition = once(m.condition);
    const ValueId on_true = stack(m.on_true, around_.clocks.on(at, condition, true));
    const ValueId on_false = stack(m.on_false, around_.clocks.on(at, condition, false));
    return core::Merge{condition, on_true, on_false};
  }

  // An assert holds if it holds for all elements.
  void write(const CoreAssert& check) {
    ValueId condition = once(check.condition);  // the condition of one or of all elements
    if (is_stacked(check.condition)) {
      condition = apply("all", {condition}, along_elements(), condition, {});
    }
    core().asserts.push_back({condition, check.message, check.span});
  }

  // ---- parts ----

  void write_parts() {
    const std::vector<std::vector<ValueId>> outputs = find_outputs();
    for (std::uint32_t p = 0; p < parts_.members.size(); ++p) place_part(p, outputs[p]);
    for (const Waiting& part : waiting_) {
      std::vector<ValueId> operands;
      for (const auto* list : {&part.sequences, &part.fixed})
        for (const ValueId v : *list) operands.push_back(places_[v.index]);
      std::get<core::Call>(core()[part.call].rhs).operands = std::move(operands);
    }
    for (const std::uint32_t p : at_once_)
      for (const ValueId v : parts_.members[p]) {
        core::Rhs written = written_at_once(v);
        core()[places_[v.index]].rhs = std::move(written);
      }
  }

  // By part: the values read outside the part. If none is read, all values of the part, since
  // they may fail.
  std::vector<std::vector<ValueId>> find_outputs() {
    std::vector<bool> read(body_.values.size(), false);
    const auto note = [&](ValueId v, std::uint32_t by) {
      if (parts_.stands[v.index] == Stand::inside && parts_.part[v.index] != by) read[v.index] = true;
    };
    for (std::size_t v = 0; v < body_.values.size(); ++v) {
      const std::uint32_t by = parts_.part[v];
      for_each_operand(body_.values[v].rhs, [&](ValueId o) {
        note(o, by);
        if (!body_.is_const(o))
          for (const ClockId c : ancestors(body_, body_[o].clock)) note(body_[c].condition, by);
      });
      for (const ClockId c : ancestors(body_, body_.values[v].clock)) note(body_[c].condition, by);
    }
    for (const Port& p : body_.outputs) note(p.value, Parts::none);
    for (const CoreAssert& check : body_.asserts) note(check.condition, Parts::none);
    std::vector<std::vector<ValueId>> outputs(parts_.members.size());
    for (std::uint32_t p = 0; p < outputs.size(); ++p) {
      for (const ValueId v : parts_.members[p])
        if (read[v.index] && !std::holds_alternative<core::Call>(body_[v].rhs)) outputs[p].push_back(v);
      for (const ValueId v : parts_.members[p])
        if (outputs[p].empty() && !std::holds_alternative<core::Call>(body_[v].rhs)) outputs[p].push_back(v);
    }
    return outputs;
  }

  void place_part(std::uint32_t p, const std::vector<ValueId>& outputs) {
    if (is_at_once(body_, elements_, parts_.members[p])) {
      at_once_.push_back(p);
      for (const ValueId v : parts_.members[p]) places_[v.index] = made(v, {}, stacked(body_[v].shape));
      return;
    }
    PartBody part = make_part(body_, elements_, parts_, p, outputs);
    Iteration it;
    it.sequences = static_cast<std::uint32_t>(part.sequences.size());
    it.length = what_.length;
    it.reverse = what_.reverse;
    ExternalNode external{what_.name, {}, {}, at_.span};
    for (const ValueId v : part.sequences) external.inputs.emplace_back(body_[v].dtype, stacked(body_[v].shape));
    for (const ValueId v : part.fixed) external.inputs.emplace_back(body_[v].dtype, body_[v].shape);
    for (const ValueId v : outputs) external.outputs.emplace_back(body_[v].dtype, stacked(body_[v].shape));
    it.body = std::move(part.core);
    it.body.entry = what_.name;
    for (std::size_t v = 0; v < it.body.values.size(); ++v) it.can_fail = it.can_fail || can_fail(it.body, ValueId(v));
    external.iteration = std::make_shared<const Iteration>(std::move(it));
    const ClockId home = clock(elements_.home(body_[parts_.members[p][0]].clock));
    core::Call call{static_cast<std::uint32_t>(core().externals.size()), {}};
    core().externals.push_back(std::move(external));
    const ValueId called = add(std::move(call), body_[outputs[0]].dtype, {}, home, at_.span);
    waiting_.push_back({called, std::move(part.sequences), std::move(part.fixed)});
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
      const ValueId v = outputs[k];
      places_[v.index] = add(core::Result{called, k}, body_[v].dtype, stacked(body_[v].shape), home, body_[v].span);
      core()[places_[v.index]].name = body_[v].name;
    }
  }

  // Where an element is absent its number is meaningless and is never read.
  core::Rhs written_at_once(ValueId v) {
    const std::size_t axes = body_[v].shape.size();
    const auto all = [&](ValueId o) { return is_stacked(o) ? aligned(o, axes) : once(o); };
    if (const auto* w = std::get_if<core::When>(&body_[v].rhs))
      return reshaped(stack(w->operand, core()[places_[v.index]].clock), stacked(body_[v].shape));
    if (const auto* m = std::get_if<core::Merge>(&body_[v].rhs))
      return core::Apply{operators().require("select"), {all(m->condition), all(m->on_true), all(m->on_false)}, {}, 0};
    core::Apply apply = *apply_of(body_, v);
    for (ValueId& o : apply.operands) o = all(o);
    return apply;
  }

  // A value with fewer axes than the result gets axes of extent 1 after the first axis, before
  // its own axes.
  ValueId aligned(ValueId v, std::size_t axes) {
    const ValueId all = places_[v.index];
    const Shape& element = body_[v].shape;
    if (element.size() == axes) return all;
    Shape shape = {what_.length};
    shape.resize(1 + axes - element.size(), 1);
    shape.insert(shape.end(), element.begin(), element.end());
    return apply("reshape", {all}, {integers_attribute(shape)}, all, shape);
  }

  struct Waiting {  // a call whose operands are set later
    ValueId call;
    std::vector<ValueId> sequences, fixed;
  };

  const Spreading& what_;
  const SpreadAt& at_;
  Surroundings& around_;
  const Core body_;
  const Elements elements_;
  const Parts parts_;
  std::vector<ValueId> places_;  // indexed by value of the body: its place outside
  std::map<std::pair<ValueId, ClockId>, ValueId> stacks_;
  std::vector<ClockId> clocks_;  // indexed by clock of the body: the clock outside
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> at_once_;  // parts that are computed for all elements together
  std::size_t first_instance_ = 0;
};

}  // namespace

std::vector<ValueId> spread(const Spreading& what, const SpreadAt& at, Surroundings& around) {
  return Spreader(what, at, around).run();
}

}  // namespace rml::mapped
