// Copies the values of the part, with inputs for the other values that they read.
#include "semantics/spread/part_body.h"

#include <unordered_map>

#include "semantics/core/queries.h"

namespace rml::mapped {

namespace {

class PartWriter {
 public:
  PartWriter(const Core& body, const Elements& elements, const Parts& parts, std::uint32_t part)
      : body_(body), elements_(elements), parts_(parts), part_(part) {
    made_.core.clocks.resize(2);
    made_.core.entry = body.entry;
    made_.core.instances = body.instances;
    home_ = elements.home(body[parts.members[part][0]].clock);
  }

  PartBody run(std::vector<ValueId> outputs) {
    const std::vector<ValueId>& members = parts_.members[part_];
    for (const ValueId v : members) copies_[v.index] = add(body_[v]);
    for (const ValueId v : members) fill(v);
    for (const ValueId v : outputs) export_value(v);
    for (const Parameter& p : body_.parameters)
      if (parts_.part[p.value.index] == part_) core().parameters.push_back({p.path, copies_.at(p.value.index)});
    made_.outputs = std::move(outputs);
    add_inputs();
    renumber(core(), std::vector<bool>(core().values.size(), true));
    return std::move(made_);
  }

 private:
  Core& core() { return made_.core; }
  std::string name(ValueId v) const { return body_[v].name.empty() ? "v" + std::to_string(v.index) : body_[v].name; }
  ValueId add(rml::Value v) {
    core().values.push_back(std::move(v));
    return ValueId{core().values.size() - 1};
  }

  void fill(ValueId v) {
    core::Rhs rhs = body_[v].rhs;
    for_each_operand(rhs, [&](ValueId& o) { o = copied(o); });
    if (auto* call = std::get_if<core::Call>(&rhs)) call->external = external(call->external);
    const ClockId at = clock(body_[v].clock);
    rml::Value& copy = core()[copies_.at(v.index)];
    copy.rhs = std::move(rhs);
    copy.clock = at;
  }

  std::uint32_t external(std::uint32_t k) {
    const auto [known, is_new] = externals_.try_emplace(k, static_cast<std::uint32_t>(core().externals.size()));
    if (is_new) core().externals.push_back(body_.externals[k]);
    return known->second;
  }

  ClockId clock(ClockId c) {
    ClockId at = base_clock;
    for (const ClockId sampled : path_to(body_, c, home_)) {
      const Clock& of = body_[sampled];
      at = padding_.on(at, copied(of.condition), of.positive);
    }
    return at;
  }

  ValueId copied(ValueId v) {
    if (const auto known = copies_.find(v.index); known != copies_.end()) return known->second;
    rml::Value value = body_[v];
    ClockId at = value.clock;
    value.clock = base_clock;
    if (body_.is_const(v)) return copies_[v.index] = add(std::move(value));
    value.rhs = core::Input{};
    const ValueId input = add(std::move(value));
    (parts_.stands[v.index] == Stand::once ? made_.fixed : made_.sequences).push_back(v);
    inputs_[v.index] = input;
    return copies_[v.index] = elements_.differs(at) ? padding_.sampled(input, clock(at)) : input;
  }

  void export_value(ValueId v) {
    ValueId copy = copies_.at(v.index);
    if (elements_.differs(body_[v].clock))
      copy = padding_.padded(copy, core()[copy].clock, base_clock,
                             padding_.constant(Tensor(body_[v].dtype, body_[v].shape)));
    core().outputs.push_back({name(v), copy, body_[v].span});
  }

  void add_inputs() {
    for (const auto* list : {&made_.sequences, &made_.fixed}) {
      for (const ValueId v : *list) {
        const ValueId input = inputs_.at(v.index);
        core()[input].rhs = core::Input{static_cast<std::uint32_t>(core().inputs.size())};
        core().inputs.push_back({name(v), input, body_[v].span});
      }
    }
  }

  const Core& body_;
  const Elements& elements_;
  const Parts& parts_;
  const std::uint32_t part_;
  ClockId home_;
  PartBody made_;
  Padding padding_{made_.core};
  // Copies and inputs in the part, by value of the whole body.
  std::unordered_map<std::uint32_t, ValueId> copies_, inputs_;
  std::unordered_map<std::uint32_t, std::uint32_t> externals_;
};

}  // namespace

PartBody make_part(const Core& body, const Elements& elements, const Parts& parts, std::uint32_t part,
                   std::vector<ValueId> outputs) {
  return PartWriter(body, elements, parts, part).run(std::move(outputs));
}

}  // namespace rml::mapped
