// Checks the invariants of core.h.
//
// First all ids must be in range, so that the later checks can follow them. Then each value is
// checked: its primitive determines the dtypes, shapes and clocks of its operands; for an
// operator, the slots and the shape rule of its table row do. The first violation is reported as
// text. Cycles within an instant are not checked here: they are errors of the user, which
// check_causality finds.
#include <algorithm>
#include <type_traits>

#include "semantics/core/core_text.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml {

namespace {

class Verifier {
 public:
  explicit Verifier(const Core& core) : core_(core) {}

  CoreViolation run() {
    check_ids();
    if (!ok()) return {error_, at_};
    for (const ExternalNode& external : core_.externals) check_body(external);
    for (std::size_t i = 2; i < core_.clocks.size() && ok(); ++i) check_clock(ClockId{i});
    for (std::size_t i = 0; i < core_.values.size() && ok(); ++i) check_value(ValueId{i});
    check_interface();
    return {error_, at_};
  }

 private:
  bool ok() const { return error_.empty(); }
  void fail(const std::string& message) {
    if (ok()) error_ = message;
  }
  // Makes the text of the message only if the check fails: a clock's name is as long as the clock
  // is deep.
  template <class Message>
  void require(bool holds, ValueId v, const Message& message) {
    if (holds || !ok()) return;
    std::string text;
    if constexpr (std::is_invocable_v<Message>)
      text = message();
    else
      text = message;
    error_ = "%" + std::to_string(v.index) + " (" + describe(core_, v) + "): " + text;
    at_ = v;
  }

  // ---- ids ----

  bool exists(ValueId v) const { return v.index < core_.values.size(); }
  bool exists(ClockId c) const { return c.index < core_.clocks.size(); }

  void check_ids() {
    if (core_.clocks.size() < 2) return fail("the clocks base and never are missing");
    for (std::size_t i = 2; i < core_.clocks.size(); ++i) {
      const Clock& clock = core_.clocks[i];
      const std::string name = "clock c" + std::to_string(i);
      if (!exists(clock.parent) || clock.parent == never_clock) fail(name + ": its parent is not a clock to sample");
      if (!exists(clock.condition)) fail(name + ": its condition is out of range");
    }
    if (ok()) check_clock_chains();
    for (std::size_t i = 0; i < core_.values.size(); ++i) check_value_ids(ValueId{i});
    for (const auto* ports : {&core_.inputs, &core_.outputs, &core_.watches}) {
      for (const Port& port : *ports) {
        if (!exists(port.value)) fail("port " + port.name + ": its value is out of range");
      }
    }
    for (const CoreAssert& check : core_.asserts) {
      if (!exists(check.condition)) fail("assert: its condition is out of range");
    }
    for (const Parameter& parameter : core_.parameters) {
      if (!exists(parameter.value)) fail("parameter " + parameter.path + ": its value is out of range");
    }
    for (std::size_t i = 0; i < core_.instances.size(); ++i) {
      const InstanceId parent = core_.instances[i].parent;
      if (parent.valid() && parent.index >= i) fail("instance " + std::to_string(i) + ": its parent comes later");
    }
  }

  void check_clock_chains() {
    // Other marks: `unseen`, `rooted`, and above them: seen on the way up from clock `mark - 2`.
    constexpr std::size_t unseen = 0, rooted = 1;
    std::vector<std::size_t> marks(core_.clocks.size(), unseen);
    marks[0] = marks[1] = rooted;
    for (std::size_t i = 2; i < core_.clocks.size(); ++i) {
      ClockId top{i};
      for (; marks[top.index] == unseen; top = core_[top].parent) marks[top.index] = i + 2;
      if (marks[top.index] == i + 2) fail("clock c" + std::to_string(i) + ": it is its own ancestor");
      for (ClockId c{i}; marks[c.index] == i + 2; c = core_[c].parent) marks[c.index] = rooted;
    }
  }

  void check_value_ids(ValueId v) {
    const Value& value = core_[v];
    const auto fail = [&](const char* message) {
      if (!ok()) return;
      error_ = "%" + std::to_string(v.index) + message;
      at_ = v;
    };
    if (!exists(value.clock)) fail(": its clock is out of range");
    if (value.instance.valid() && value.instance.index >= core_.instances.size())
      fail(": its instance is out of range");
    for_each_operand(value.rhs, [&](const ValueId& operand) {
      if (!exists(operand)) fail(": an operand is out of range");
    });
    if (const auto* apply = std::get_if<core::Apply>(&value.rhs); apply != nullptr && apply->op >= operators().size()) {
      fail(": its operator is out of range");
    }
    if (const auto* call = std::get_if<core::Call>(&value.rhs);
        call != nullptr && call->external >= core_.externals.size()) {
      fail(": its external node is out of range");
    }
  }

  // ---- clocks ----

  bool same_clock(ClockId a, ClockId b) const {
    while (a != b) {
      if (a.index < 2 || b.index < 2) return false;
      if (core_[a].condition != core_[b].condition || core_[a].positive != core_[b].positive) return false;
      a = core_[a].parent;
      b = core_[b].parent;
    }
    return true;
  }
  bool has_clock(ValueId v, ClockId clock) const { return core_.is_const(v) || same_clock(core_[v].clock, clock); }
  bool is_sampling(ClockId clock, ClockId parent, ValueId condition, bool positive) const {
    if (clock.index < 2) return false;
    const Clock& c = core_[clock];
    return c.condition == condition && c.positive == positive && same_clock(c.parent, parent);
  }
  bool is_boolean(ValueId v) const { return core_[v].dtype == DType::boolean && core_[v].shape.empty(); }

  void check_clock(ClockId c) {
    const Clock& clock = core_[c];
    const std::string name = "clock c" + std::to_string(c.index);
    if (!is_boolean(clock.condition)) fail(name + ": its condition is not a Boolean scalar");
    if (!has_clock(clock.condition, clock.parent)) fail(name + ": its condition is not on its parent clock");
  }

  void require_clock(ValueId v, ValueId operand, ClockId clock) {
    require(has_clock(operand, clock), v, [&] {
      return "operand %" + std::to_string(operand.index) + " is on clock " + clock_string(core_, core_[operand].clock) +
             ", not on " + clock_string(core_, clock);
    });
  }
  void require_type(ValueId v, ValueId operand, DType dtype, const Shape& shape) {
    require(core_[operand].dtype == dtype && core_[operand].shape == shape, v, [&] {
      return "operand %" + std::to_string(operand.index) + " has type " +
             type_string(core_[operand].dtype, core_[operand].shape) + ", not " + type_string(dtype, shape);
    });
  }
  void require_condition(ValueId v, ValueId condition) {
    require(is_boolean(condition), v,
            [&] { return "its condition %" + std::to_string(condition.index) + " is not a Boolean scalar"; });
  }

  // ---- values ----

  void check_value(ValueId v) {
    const Value& value = core_[v];
    require(element_count(value.shape).has_value() && value.shape.size() <= max_rank, v, "its shape is out of bounds");
    for_each_operand(value.rhs, [&](const ValueId& operand) {
      require(core_.is_const(operand) || core_[operand].clock != never_clock, v,
              [&] { return "operand %" + std::to_string(operand.index) + " is never present"; });
    });
    std::visit(Overloaded{
                   [&](const core::Const& rhs) { check(v, value, rhs); },
                   [&](const core::Input& rhs) { check(v, rhs); },
                   [&](const core::Apply& rhs) { check(v, value, rhs); },
                   [&](const core::Call& rhs) { check(v, value, rhs); },
                   [&](const core::Result& rhs) { check(v, value, rhs); },
                   [&](const core::When& rhs) { check(v, value, rhs); },
                   [&](const core::Merge& rhs) { check(v, value, rhs); },
                   [&](const core::Fby& rhs) { check(v, value, rhs); },
                   [&](const core::Post& rhs) { check(v, value, rhs); },
               },
               value.rhs);
  }

  void check(ValueId v, const Value& value, const core::Const& rhs) {
    require(rhs.value.dtype() == value.dtype && rhs.value.shape() == value.shape, v,
            [&] { return "its constant has type " + type_string(rhs.value.dtype(), rhs.value.shape()); });
  }

  void check(ValueId v, const core::Input& rhs) {
    require(rhs.index < core_.inputs.size() && core_.inputs[rhs.index].value == v, v,
            [&] { return "the list of inputs does not contain it at position " + std::to_string(rhs.index); });
  }

  void check(ValueId v, const Value& value, const core::Apply& rhs) {
    for (const ValueId operand : rhs.operands) require_clock(v, operand, value.clock);
    const OperatorInfo& row = operators()[rhs.op];
    require(find_slots(row, rhs.operands.size()), v, [&] {
      return std::string(row.name) + " does not take " + std::to_string(rhs.operands.size()) + " operands";
    });
    const auto is_attribute = [](const OperatorParameter& p) { return p.kind != ParameterKind::operand; };
    const auto attributes = std::count_if(row.parameters.begin(), row.parameters.end(), is_attribute);
    require(rhs.attributes.size() == static_cast<std::size_t>(attributes), v,
            [&] { return std::string(row.name) + " takes " + std::to_string(attributes) + " attributes"; });
    if (!ok()) return;
    check_slots(v, value, rhs, row);
    if (ok()) check_shape(v, value, rhs, row);
  }

  // Finds the slot of each operand. Returns false if the row does not accept this number of
  // operands.
  bool find_slots(const OperatorInfo& row, std::size_t count) {
    slots_.clear();
    bool variadic = false;
    const std::size_t hidden = row.random ? 1 : 0;
    for (const OperatorParameter& parameter : row.parameters) {
      if (parameter.kind != ParameterKind::operand) continue;
      slots_.push_back(parameter.dtype);
      variadic = variadic || parameter.variadic;
    }
    if (variadic) {
      while (slots_.size() + hidden < count) slots_.push_back(slots_.back());
    }
    if (row.random) slots_.push_back({-1, bit(DType::i64)});
    return slots_.size() == count;
  }

  void check_slots(ValueId v, const Value& value, const core::Apply& rhs, const OperatorInfo& row) {
    bound_.clear();
    const auto fits = [&](const DTypeSlot& slot, DType dtype) {
      if ((slot.allowed & bit(dtype)) == 0) return false;
      if (slot.variable < 0) return true;
      const auto variable = static_cast<std::size_t>(slot.variable);
      if (bound_.size() <= variable) bound_.resize(variable + 1);
      if (!bound_[variable]) bound_[variable] = dtype;
      return *bound_[variable] == dtype;
    };
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const DType dtype = core_[rhs.operands[i]].dtype;
      require(fits(slots_[i], dtype), v, [&] {
        return "operand " + std::to_string(i) + " of " + std::string(row.name) + " cannot be " +
               std::string(name(dtype));
      });
    }
    require(fits(row.result, value.dtype), v,
            [&] { return "the result of " + std::string(row.name) + " cannot be " + std::string(name(value.dtype)); });
  }

  void check_shape(ValueId v, const Value& value, const core::Apply& rhs, const OperatorInfo& row) {
    const std::size_t count = rhs.operands.size();
    if (shapes_.size() < count) shapes_.resize(count);
    dtypes_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      dtypes_[i] = core_[rhs.operands[i]].dtype;
      shapes_[i] = core_[rhs.operands[i]].shape;
    }
    const ShapeResult result = row.shape({dtypes_, std::span(shapes_).first(count), rhs.attributes, value.dtype});
    if (const auto* message = std::get_if<std::string>(&result)) return require(false, v, *message);
    require(std::get<Shape>(result) == value.shape, v, [&] {
      return "its shape is " + to_string(value.shape) + " but " + std::string(row.name) + " yields " +
             to_string(std::get<Shape>(result));
    });
  }

  void check(ValueId v, const Value& value, const core::Call& rhs) {
    const ExternalNode& external = core_.externals[rhs.external];
    require(rhs.operands.size() == external.inputs.size(), v,
            [&] { return external.symbol + " takes " + std::to_string(external.inputs.size()) + " operands"; });
    for (std::size_t i = 0; i < rhs.operands.size() && ok(); ++i) {
      require_type(v, rhs.operands[i], external.inputs[i].first, external.inputs[i].second);
      require_clock(v, rhs.operands[i], value.clock);
    }
  }

  // The body must take elements of the iteration's inputs and yield elements of its outputs.
  void check_body(const ExternalNode& external) {
    if (external.iteration == nullptr || !ok()) return;
    const Iteration& it = *external.iteration;
    const auto require_here = [&](bool holds, const std::string& text) {
      if (!holds) fail("iteration " + external.symbol + ": " + text);
    };
    const std::string inside = verify(it.body);
    require_here(inside.empty(), "in its body: " + inside);
    if (!ok()) return;
    const std::size_t states = it.states, leading = states + it.sequences;
    require_here(it.length >= 0, "its length is negative");
    require_here(leading <= external.inputs.size() && states <= external.outputs.size(),
                 "it has more states and sequences than operands");
    require_here(like(it, it.body.inputs, external.inputs, states, leading),
                 "its operands do not fit the inputs of its body");
    require_here(like(it, it.body.outputs, external.outputs, states, it.body.outputs.size()),
                 "its results do not fit the outputs of its body");
    for (std::size_t k = 0; k < states && ok(); ++k)
      require_here(external.inputs[k] == external.outputs[k], "a state changes its type");
  }
  static bool like(const Iteration& it, const std::vector<Port>& ports,
                   const std::vector<std::pair<DType, Shape>>& types, std::size_t from, std::size_t to) {
    if (ports.size() != types.size()) return false;
    for (std::size_t k = 0; k < ports.size(); ++k) {
      Shape whole = it.body[ports[k].value].shape;
      if (k >= from && k < to) whole.insert(whole.begin(), it.length);
      if (types[k] != std::pair(it.body[ports[k].value].dtype, whole)) return false;
    }
    return true;
  }

  void check(ValueId v, const Value& value, const core::Result& rhs) {
    const auto* call = std::get_if<core::Call>(&core_[rhs.call].rhs);
    require(call != nullptr, v, "it is a result of a value that is not a call");
    if (!ok()) return;
    const auto& outputs = core_.externals[call->external].outputs;
    require(rhs.output < outputs.size(), v, "the call has no such output");
    if (!ok()) return;
    require(outputs[rhs.output] == std::pair(value.dtype, value.shape), v, "its type is not that of the call's output");
    require_clock(v, rhs.call, value.clock);
  }

  void check(ValueId v, const Value& value, const core::When& rhs) {
    require_condition(v, rhs.condition);
    require_type(v, rhs.operand, value.dtype, value.shape);
    if (core_.is_const(rhs.condition)) {
      const bool always = constant_truth(core_, rhs.condition) == rhs.positive;
      return require(always ? has_clock(rhs.operand, value.clock) : value.clock == never_clock, v,
                     "its clock does not fit a sampling by a constant");
    }
    const ClockId parent = core_[rhs.condition].clock;
    require_clock(v, rhs.operand, parent);
    require(is_sampling(value.clock, parent, rhs.condition, rhs.positive), v, [&] {
      return "its clock " + clock_string(core_, value.clock) + " is not the clock of its operands, sampled";
    });
  }

  void check(ValueId v, const Value& value, const core::Merge& rhs) {
    require_condition(v, rhs.condition);
    require_clock(v, rhs.condition, value.clock);
    for (const bool branch : {true, false}) {
      const ValueId operand = branch ? rhs.on_true : rhs.on_false;
      require_type(v, operand, value.dtype, value.shape);
      if (core_.is_const(operand)) continue;
      if (core_.is_const(rhs.condition)) {
        if (constant_truth(core_, rhs.condition) == branch) require_clock(v, operand, value.clock);
        continue;
      }
      require(is_sampling(core_[operand].clock, value.clock, rhs.condition, branch), v, [&] {
        return "operand %" + std::to_string(operand.index) + " is on clock " +
               clock_string(core_, core_[operand].clock) + ", not on that of the condition, sampled";
      });
    }
  }

  void check(ValueId v, const Value& value, const core::Fby& rhs) {
    require_type(v, rhs.init, value.dtype, value.shape);
    require_type(v, rhs.next, value.dtype, value.shape);
    require_clock(v, rhs.next, value.clock);
    if (core_.is_const(rhs.init)) return;
    const ClockId clock = core_[rhs.init].clock;
    const bool sampled = clock.index >= 2 && core_[clock].positive && is_start(core_, core_[clock].condition) &&
                         same_clock(core_[clock].parent, value.clock);
    require(sampled, v, "its first operand is neither a constant nor sampled by the start of its clock");
  }

  void check(ValueId v, const Value& value, const core::Post& rhs) {
    require_type(v, rhs.operand, value.dtype, value.shape);
    require_clock(v, rhs.operand, value.clock);
  }

  // ---- ports ----

  void check_interface() {
    for (std::size_t i = 0; i < core_.inputs.size() && ok(); ++i) {
      const auto* input = std::get_if<core::Input>(&core_[core_.inputs[i].value].rhs);
      if (input == nullptr || input->index != i)
        fail("input " + core_.inputs[i].name + ": its value is not this input");
    }
    for (const CoreAssert& check : core_.asserts) {
      if (!is_boolean(check.condition)) fail("assert \"" + check.message + "\": not a Boolean scalar");
      if (!core_.is_const(check.condition) && core_[check.condition].clock == never_clock) {
        fail("assert \"" + check.message + "\": never present");
      }
    }
  }

  const Core& core_;
  std::string error_;
  ValueId at_;  // the value that the error is about; invalid if it is about none

  // Scratch space for the operator that is being checked; reused, to avoid an allocation per
  // operator.
  std::vector<DTypeSlot> slots_;
  std::vector<std::optional<DType>> bound_;  // dtypes bound to the type variables of the operator's slots
  std::vector<DType> dtypes_;                // dtypes of the operands
  std::vector<Shape> shapes_;
};

}  // namespace

CoreViolation find_violation(const Core& core) { return Verifier(core).run(); }
std::string verify(const Core& core) { return find_violation(core).message; }

}  // namespace rml
