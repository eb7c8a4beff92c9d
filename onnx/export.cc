// Walks the core from its outputs. The nodes of a value are written at its first use, after those
// of its operands.
#include "onnx/export.h"

#include <algorithm>
#include <map>

#include "onnx/export_operators.h"
#include "onnx/write_model.h"
#include "semantics/core/queries.h"

namespace rml::onnx {

namespace {

class Exporter {
 public:
  // Exports the body of an iteration, as a graph within the model `around`. `present` is the
  // result of present() for the clock of the iteration.
  Exporter(const Core& core, const ModelWriter& around, std::string present)
      : core_(core), to_(core.entry, around), around_(std::move(present)) {}

  explicit Exporter(const Core& core) : core_(core), to_(core.entry) {}

  Exported run() {
    for (const Port& p : core_.inputs) to_.reserve(p.name);
    for (const Port& p : core_.outputs) to_.reserve(p.name);
    for (const Port& p : core_.inputs) input(p);
    for (const CoreAssert& a : core_.asserts) refuse(a.span, "an assert has no counterpart in ONNX");
    for (const Port& p : core_.outputs) output(p);
    // Writes the next value of each state, which may add further states.
    for (std::size_t k = 0; k < states_.size(); ++k) next_state(states_[k]);
    if (core_.outputs.empty()) refuse({}, "a node without outputs cannot be exported");
    if (result_.errors.empty()) result_.bytes = to_.bytes();
    return std::move(result_);
  }

 private:
  void refuse(Span span, const std::string& message) { result_.errors.push_back({span, message}); }

  void input(const Port& p) {
    const Value& v = core_[p.value];
    if (v.clock != base_clock) refuse(p.span, "input `" + p.name + "` is not present at every cycle");
    to_.input(p.name, v.dtype, v.shape);
    known_[p.value] = p.name;
  }

  void output(const Port& p) {
    const Value& v = core_[p.value];
    if (v.clock != base_clock) refuse(p.span, "output `" + p.name + "` is not present at every cycle");
    to_.output(p.name, name(p.value), v.dtype, v.shape);
  }

  // ---- states

  struct State {
    ValueId fby;
    std::string name;
  };

  const Tensor* known(ValueId v) const {
    const auto* c = std::get_if<core::Const>(&core_[v].rhs);
    if (c != nullptr) return &c->value;
    // The operator of a parameter returns its initial value.
    const auto* parameter = apply_of(core_, v, Lowering::parameter);
    return parameter != nullptr ? known(parameter->operands[0]) : nullptr;
  }

  std::string state(ValueId v, const core::Fby& f) {
    const Value& value = core_[v];
    std::string base = value.name.empty() ? "state" : value.name;
    for (const auto* ports : {&core_.inputs, &core_.outputs})
      if (std::ranges::find(*ports, base, &Port::name) != ports->end()) base += "_state";
    const Tensor* init = known(f.init);
    // Every parameter gets its own tensor, even if another has the same value. For example,
    // several biases start at zero but are trained separately.
    const std::string held = to_.fresh(base);
    if (f.next == v && init != nullptr) {  // the fby is a constant: its next value is itself
      to_.initializer(held, *init);
      return held;
    }
    known_[v] = held;
    states_.push_back({v, held});
    to_.input(held, value.dtype, value.shape);
    to_.initializer(held, init != nullptr ? *init : Tensor(value.dtype, value.shape));
    if (init != nullptr) return held;
    // The first value is computed, so a flag selects it in the first cycle.
    const std::string first = first_of(value.clock);
    return known_[v] = to_.node("Where", {first, name(f.init), held});
  }

  // Returns a flag that is true until the first tick of the clock is over.
  std::string first_of(ClockId clock) {
    const auto met = first_.find(clock.index);
    if (met != first_.end()) return met->second;
    const std::string flag = to_.fresh("first");
    first_[clock.index] = flag;
    to_.input(flag, DType::boolean, {});
    to_.initializer(flag, Tensor::boolean(true));
    const std::string here = present(clock);
    const std::string over = to_.constant(Tensor::boolean(false));
    state_output(flag, here.empty() ? over : to_.node("Where", {here, over, flag}), DType::boolean, {});
    return flag;
  }

  void next_state(State s) {
    const Value& value = core_[s.fby];
    const auto& f = std::get<core::Fby>(value.rhs);
    std::string next = name(f.next);
    const std::string here = present(value.clock);
    if (!here.empty()) next = to_.node("Where", {here, next, s.name});
    state_output(s.name, next, value.dtype, value.shape);
  }

  void state_output(const std::string& in, const std::string& next, DType dtype, const Shape& shape) {
    const std::string out = to_.fresh(in + "_next");
    to_.output(out, next, dtype, shape);
    result_.states.emplace_back(in, out);
  }

  // Returns a Boolean that is true if the clock ticks, or "" if it always does.
  std::string present(ClockId clock) {
    if (clock == base_clock) return around_;
    if (clock == never_clock) return to_.constant(Tensor::boolean(false));
    const auto met = present_.find(clock.index);
    if (met != present_.end()) return met->second;
    const Clock& c = core_[clock];
    std::string here = name(c.condition);
    if (!c.positive) here = to_.node("Not", {here});
    const std::string outer = present(c.parent);
    if (!outer.empty()) here = to_.node("And", {outer, here});
    return present_[clock.index] = here;
  }

  // ---- values

  std::string name(ValueId v) {
    const auto met = known_.find(v);
    if (met != known_.end()) return met->second;
    std::string made;
    try {
      made = std::visit([&](const auto& rhs) { return write(v, rhs); }, core_[v].rhs);
    } catch (const Refused& refused) {
      refuse(core_[v].span, refused.why);
      // A placeholder of the right type, so that its uses cause no further errors.
      made = to_.constant(Tensor(core_[v].dtype, {}));
    }
    return known_[v] = made;
  }

  std::string write(ValueId, const core::Const& c) { return to_.constant(c.value); }
  std::string write(ValueId, const core::Input&) { throw Refused{"an input that is none"}; }
  std::string write(ValueId, const core::When& w) { return name(w.operand); }
  std::string write(ValueId, const core::Merge& m) {
    const std::string condition = name(m.condition), yes = name(m.on_true);
    return to_.node("Where", {condition, yes, name(m.on_false)});
  }
  std::string write(ValueId v, const core::Fby& f) { return state(v, f); }
  std::string write(ValueId, const core::Post&) {
    throw Refused{"`post` reads a later cycle, which a model of one cycle does not have"};
  }
  std::string write(ValueId v, const core::Call& c) {
    const ExternalNode& node = core_.externals[c.external];
    if (node.in_c()) throw Refused{"the external node `" + node.symbol + "` cannot be exported"};
    std::vector<std::string> operands;
    for (const ValueId x : c.operands) operands.push_back(name(x));
    const std::string here = node.iteration->can_fail ? present(core_[v].clock) : "";
    return (results_[v] = scan(*node.iteration, operands, here)).front();
  }
  std::string write(ValueId v, const core::Result& r) {
    name(r.call);
    const auto met = results_.find(r.call);
    return met == results_.end() ? to_.constant(Tensor(core_[v].dtype, {})) : met->second[r.output];
  }

  // The body becomes a graph within the node. It uses fixed operands directly from the
  // surrounding graph.
  std::vector<std::string> scan(const Iteration& it, std::vector<std::string> operands, const std::string& present) {
    Exporter body(it.body, to_, present);
    const std::size_t leading = it.states + it.sequences;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Port& p = it.body.inputs[k];
      const Value& v = it.body[p.value];
      body.known_[p.value] = k < leading ? to_.fresh(p.name) : operands[k];
      if (k < leading) body.to_.input(body.known_[p.value], v.dtype, v.shape);
    }
    for (const Port& p : it.body.outputs)
      body.to_.output(to_.fresh(p.name), body.name(p.value), it.body[p.value].dtype, it.body[p.value].shape);
    result_.errors.insert(result_.errors.end(), body.result_.errors.begin(), body.result_.errors.end());
    operands.resize(leading);
    const std::size_t outputs = it.body.outputs.size();
    std::vector<Given> attributes{{"body", &body.to_}, {"num_scan_inputs", std::int64_t{it.sequences}}};
    const auto all = [](std::size_t n) { return std::vector<std::int64_t>(n, 1); };
    if (it.reverse) attributes.push_back({"scan_input_directions", all(it.sequences)});
    if (it.reverse && outputs > it.states) attributes.push_back({"scan_output_directions", all(outputs - it.states)});
    std::vector<DType> types;
    for (const Port& p : it.body.outputs) types.push_back(it.body[p.value].dtype);
    return to_.nodes("Scan", operands, attributes, outputs, types);
  }

  std::string write(ValueId v, const core::Apply& a) {
    const OperatorInfo& row = operators()[a.op];
    if (row.lowering == Lowering::parameter) return name(a.operands[0]);
    if (row.random)
      throw Refused{
          "random numbers have no counterpart in ONNX; for parameters, give the learned values: "
          "--load-params FILE"};
    const Writer* writer = writer_of(row.name);
    if (writer == nullptr) throw Refused{"the operator `" + std::string(row.name) + "` has no counterpart in ONNX"};
    Site site{to_, core_, core_[v], a, {}};
    for (const ValueId x : a.operands) site.operands.push_back(name(x));
    if (const auto known = without_elements(site)) return to_.constant(*known);
    if (can_fail(core_, v)) guard(site);
    return (*writer)(site);
  }

  // A model computes a value also at cycles at which it is absent in the program. A divisor of
  // zero or an index out of bounds must not stop the model there. Therefore the divisor is
  // replaced by one and the index by zero at these cycles.
  void guard(Site& site) {
    const std::string here = present(site.value.clock);
    if (here.empty()) return;
    const Lowering form = operators()[site.apply.op].lowering;
    const std::size_t last = form == Lowering::index ? site.operands.size() - 1 : 1;
    const double harmless = form == Lowering::elementwise ? 1 : 0;
    for (std::size_t k = 1; k <= last; ++k)
      site.operands[k] = to_.node("Where", {here, site.operands[k], to_.scalar(site.dtype(k), harmless)});
  }

  const Core& core_;
  ModelWriter to_;
  std::string around_;  // Boolean that is true if the call of this body is present; "": always, or nothing can fail
  std::map<ValueId, std::string> known_;
  std::map<ValueId, std::vector<std::string>> results_;  // indexed by call: names of its results
  // Names of the values that say whether a clock is present, and whether it begins.
  std::map<std::uint32_t, std::string> present_, first_;
  std::vector<State> states_;
  Exported result_;
};

}  // namespace

bool is_exportable(OperatorId op) { return writer_of(operators()[op].name) != nullptr; }

Exported export_core(const Core& core) { return Exporter(core).run(); }

}  // namespace rml::onnx
