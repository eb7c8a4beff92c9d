// Treats inner bodies first: their stopped values become stopped values of the body around them.
#include "semantics/instantiate/stops_of_rounds.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "semantics/core/queries.h"
#include "semantics/operators/operator.h"
#include "semantics/spread/padding.h"

namespace rml {
namespace {

struct Stop {
  Shape shape;  // shape of the results of all rounds together
  DType dtype;
  Span span;
};

struct BroughtOut {
  std::uint32_t place = 0;  // index of the first one among the inputs or outputs
  std::vector<Stop> stops;
};

class Bringer {
 public:
  Bringer(Core& core, Rounds rounds) : core_(core), rounds_(rounds), padding_(core) {}

  void run() {
    std::map<std::uint32_t, BroughtOut> found;
    for (std::uint32_t k = 0; k < core_.externals.size(); ++k)
      if (!core_.externals[k].in_c()) found[k] = bring_out(core_.externals[k]);
    const std::size_t values = core_.values.size();
    for (std::size_t v = 0; v < values; ++v)
      if (const auto* call = std::get_if<core::Call>(&core_.values[v].rhs))
        if (const auto of = found.find(call->external); of != found.end()) list(ValueId{v}, of->second);
  }

 private:
  BroughtOut bring_out(ExternalNode& external) const {
    auto changed = std::make_shared<Iteration>(*external.iteration);
    Core& body = changed->body;
    bring_out_stops(body, rounds_);
    const bool told = rounds_ == Rounds::told;
    BroughtOut out;
    out.place = told ? static_cast<std::uint32_t>(body.outputs.size()) : changed->states + changed->sequences;
    for (const Parameter& p : std::exchange(body.parameters, {})) {
      const Value value = body[p.value];
      Shape shape = value.shape;
      shape.insert(shape.begin(), changed->length);
      if (body.is_const(p.value) || value.clock == never_clock || !has_gradient(value.dtype) || !can_be(shape))
        continue;
      const std::size_t place = out.place + out.stops.size();
      if (told) {
        mapped::Padding padding(body);
        const ValueId zero = padding.constant(Tensor(value.dtype, value.shape));
        body.outputs.push_back({name, padding.padded(p.value, value.clock, base_clock, zero), value.span});
        external.outputs.emplace_back(value.dtype, shape);
      } else {
        make_input(body, p.value, name, place);
        const auto at = external.inputs.begin() + static_cast<std::ptrdiff_t>(place);
        external.inputs.insert(at, {value.dtype, shape});
        ++changed->sequences;
      }
      out.stops.push_back({std::move(shape), value.dtype, value.span});
    }
    external.iteration = std::move(changed);
    return out;
  }

  static bool can_be(const Shape& shape) { return element_count(shape) && shape.size() <= max_rank; }

  // Adds the new results or operands to a call.
  void list(ValueId call, const BroughtOut& out) {
    for (std::uint32_t k = 0; k < out.stops.size(); ++k) {
      const Stop& stop = out.stops[k];
      core::Rhs rhs = core::Result{call, out.place + k};
      if (rounds_ == Rounds::given) {
        const ValueId zero = padding_.constant(Tensor(stop.dtype, stop.shape));
        rhs = core::Apply{operators().require("add"), {zero, zero}, {}, 0};
      }
      const ValueId all{core_.values.size()};
      core_.values.push_back(
          {std::move(rhs), stop.dtype, stop.shape, core_[call].clock, stop.span, core_[call].instance, {}});
      core_.parameters.push_back({"", all});
      if (rounds_ == Rounds::told) continue;
      std::vector<ValueId>& operands = std::get<core::Call>(core_[call].rhs).operands;
      operands.insert(operands.begin() + out.place + k, all);
    }
  }

  static constexpr const char* name = "stop_gradient";
  Core& core_;
  const Rounds rounds_;
  mapped::Padding padding_;
};

}  // namespace

void bring_out_stops(Core& core, Rounds rounds) { Bringer(core, rounds).run(); }

void make_input(Core& core, ValueId v, const std::string& name, std::size_t place) {
  for (Value& value : core.values)
    if (auto* input = std::get_if<core::Input>(&value.rhs); input != nullptr && input->index >= place) ++input->index;
  Value value = core[v];
  value.rhs = core::Input{static_cast<std::uint32_t>(place)};
  value.clock = base_clock;
  value.name = name;
  core.values.push_back(std::move(value));
  const ValueId input{core.values.size() - 1};
  core.inputs.insert(core.inputs.begin() + static_cast<std::ptrdiff_t>(place), {name, input, core[v].span});
  const ValueId instead = mapped::Padding(core).sampled(input, core[v].clock);
  const auto replace = [&](ValueId& operand) {
    if (operand == v) operand = instead;
  };
  for (Value& user : core.values) for_each_operand(user.rhs, replace);
  for (Port& output : core.outputs) replace(output.value);
}

}  // namespace rml
