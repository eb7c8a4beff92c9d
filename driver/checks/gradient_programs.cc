// Makes the programs of gradient_programs.h from a node.
//
//   node gradcheck(x: f64[3], bp: bool, dy: f64) -> (y, dx)
//     y, dx = diff f(x, bp, dy);
#include "driver/checks/gradient_programs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/internal_error.h"
#include "semantics/differentiate/interface.h"
#include "semantics/instantiate/instantiate.h"
#include "semantics/instantiate/stops_of_rounds.h"
#include "semantics/time/causality.h"

namespace rml {
namespace {

ValueId add_value(Core& core, core::Rhs rhs, ValueId like, ClockId clock) {
  Value value = core[like];
  value.rhs = std::move(rhs);
  value.clock = clock;
  value.name.clear();
  core.values.push_back(std::move(value));
  return ValueId{core.values.size() - 1};
}

ValueId sum(Core& core, ValueId a, ValueId b) {
  return add_value(core, core::Apply{operators().require("add"), {a, b}, {}, 0}, a, core[a].clock);
}

// The step that `param(init, act, step)` would add, with the parameter's shape and 0 where there is none. Nothing if
// the parameter never changes.
std::optional<ValueId> hold_parameter(Core& core, ValueId p) {
  auto& delay = std::get<core::Fby>(core[p].rhs);
  if (delay.next == p) return std::nullopt;
  const ValueId next = std::exchange(delay.next, p);
  const auto zeros = [&](ClockId clock) {
    const ValueId made = add_value(core, core::Const{Tensor(core[p].dtype, core[p].shape)}, p, clock);
    core[made].shape = core[p].shape;
    return made;
  };
  const auto step_of = [&](ValueId moved) {
    const ValueId step = std::get<core::Apply>(core[moved].rhs).operands[1];
    if (core[step].shape == core[p].shape) return step;
    const ValueId padded = sum(core, zeros(core[moved].clock), step);
    core[padded].clock = core[moved].clock;
    return padded;
  };
  const auto* choice = std::get_if<core::Merge>(&core[next].rhs);
  if (choice == nullptr) return step_of(next);
  core::Merge padded = *choice;
  for (ValueId* branch : {&padded.on_true, &padded.on_false})
    *branch = std::holds_alternative<core::When>(core[*branch].rhs) ? zeros(core[*branch].clock) : step_of(*branch);
  return add_value(core, padded, p, core[p].clock);
}

// The path of a parameter within f. The node that calls f has no other parameters.
std::string path_within(const std::string& path) { return path.substr(path.find('.') + 1); }

enum class Form { recorded, forward, always, sometimes };

// Lists the values that stay fixed: parameters first, then results of stop_gradient.
std::vector<Parameter> held_values(const Core& core) {
  std::vector<Parameter> list;
  for (const bool stopped : {false, true})
    for (const Parameter& p : core.parameters)
      if (p.is_stopped() == stopped && has_gradient(core[p.value].dtype) && core[p.value].clock != never_clock &&
          !core.is_const(p.value))
        list.push_back(p);
  return list;
}

void expose(Core& core, Form form, GradientProgram& out) {
  bring_out_stops(core, form == Form::recorded ? Rounds::told : Rounds::given);
  for (const Parameter& p : held_values(core)) {
    const std::string name = p.is_stopped() ? "stop_gradient" : path_within(p.path);
    std::optional<ValueId> step;
    if (!p.is_stopped()) {
      step = hold_parameter(core, p.value);
      out.parameters.push_back(name);
      out.step_ports.push_back(step && form != Form::recorded ? static_cast<std::int32_t>(core.outputs.size()) : -1);
    }
    if (form == Form::recorded)
      core.outputs.push_back({name, p.value, core[p.value].span});
    else if (step)
      core.outputs.push_back({"step of " + name, *step, core[p.value].span});
    if (form == Form::forward) make_input(core, p.value, name, core.inputs.size());
  }
}

bool has_narrow_floats(const Core& core) {
  return std::ranges::any_of(core.values, [](const Value& v) { return v.dtype == DType::f32; });
}

// Turns all f32 into f64, except in bodies of iterations.
void widen_itself(Core& core) {
  for (ExternalNode& e : core.externals)
    for (auto* types : {&e.inputs, &e.outputs})
      for (auto& [dtype, shape] : *types)
        if (!e.in_c() && dtype == DType::f32) dtype = DType::f64;
  for (Value& value : core.values) {
    auto* apply = std::get_if<core::Apply>(&value.rhs);
    if (apply != nullptr && operators()[apply->op].scalar == ScalarOp::cast)
      for (Attribute& a : apply->attributes)
        if (a.dtype == DType::f32) a.dtype = DType::f64;
    if (value.dtype != DType::f32) continue;
    value.dtype = DType::f64;
    if (auto* constant = std::get_if<core::Const>(&value.rhs)) {
      Tensor wide(DType::f64, constant->value.shape());
      for (std::int64_t i = 0; i < wide.elements(); ++i) wide.as<double>()[i] = constant->value.as<float>()[i];
      constant->value = std::move(wide);
    }
  }
}

void widen(Core& core) {
  change_bodies(core, widen_itself);
  widen_itself(core);
}

void hold(const std::string& violation) {
  if (!violation.empty()) throw InternalError(violation);
}

constexpr std::size_t no_port = SIZE_MAX;

// An argument of the node f: an input of the program, or a value that -D gives.
struct Argument {
  std::string value;      // text of the value that -D gives; empty: the input keeps its values
  std::size_t port;       // index in `inputs`; no_port if -D gives the value
  bool is_float = false;  // true if `diff f` has a gradient for it
};

class Maker {
 public:
  Maker(Session& session, const GradientSubject& subject) : session_(session), subject_(subject) {}

  std::optional<GradientPrograms> run() {
    if (!read_interface()) return std::nullopt;
    out_.node = node_;
    if (!make(out_.recorded, Form::recorded) || !make(out_.forward, Form::forward) ||
        !make(out_.always, Form::always) || !make(out_.sometimes, Form::sometimes))
      return std::nullopt;
    return std::move(out_);
  }

 private:
  static bool differentiated(Form form) { return form == Form::always || form == Form::sometimes; }

  bool read_interface() {
    Front front = check_text(session_, subject_.name, subject_.text);
    if (session_.failed()) return false;
    const auto entry = find_entry(session_, front);
    if (!entry) return false;
    // `diff` gives a gradient to everything that may be a float. A type that nothing determines is checked as a float.
    TypeScheme& scheme = front.checked.types.nodes[entry->index].scheme;
    for (std::size_t k = 0; k < scheme.variables.size(); ++k)
      if (!has_gradient(scheme.defaults[k]) && (scheme.variables[k] & bit(DType::f32)) != 0)
        scheme.defaults[k] = DType::f32;
    const Program& program = *front.program;
    node_ = program.text(program[*entry].name);
    read_arguments(front, *entry);
    for (const NodeId n : program.modules[0].nodes) taken_nodes_.insert(program.text(program[n].name));
    const auto elaborated = elaborate(session_, front, *entry, {.productivity = false}, session_.diagnostics);
    if (!elaborated) return false;
    const Core& core = *elaborated->core;
    const auto read = [&](const std::vector<Port>& ports, std::vector<ChronogramPort>& to,
                          std::vector<std::uint32_t>& floats) {
      for (const Port& p : ports) {
        if (has_gradient(core[p.value].dtype)) floats.push_back(static_cast<std::uint32_t>(to.size()));
        to.push_back({p.name, core[p.value].dtype, core[p.value].shape});
        taken_.insert(p.name);
      }
    };
    read(core.inputs, out_.inputs, out_.float_inputs);
    read(core.outputs, out_.outputs, out_.float_outputs);
    if (out_.float_outputs.empty()) {
      session_.diagnostics.report(Code::E0604, program[*entry].name_span, "`" + node_ + "` has no float output",
                                  "there is nothing to differentiate");
      return false;
    }
    const auto external_floats = [](const ExternalNode& e) {
      const auto narrow = [](const auto& port) { return port.first == DType::f32; };
      return e.in_c() && (std::ranges::any_of(e.inputs, narrow) || std::ranges::any_of(e.outputs, narrow));
    };
    const bool external = std::ranges::any_of(core.externals, external_floats);
    out_.widened = has_narrow_floats(core) && !external;
    out_.narrow = has_narrow_floats(core) && external;
    return true;
  }

  // Collects the arguments of a call of the node, in the order of its inputs.
  void read_arguments(const Front& front, NodeId entry) {
    const Program& program = *front.program;
    const NodeId node = front.specialised ? front.specialised->of : entry;
    const TypedNode& typed = front.checked.types.nodes[node.index];
    const std::vector<bool> floats = possible_floats(typed.scheme);
    std::size_t port = 0;
    for (std::size_t k = 0; k < program[node].inputs.size(); ++k) {
      const std::string* value = front.specialised ? front.specialised->value(program[node].inputs[k].name) : nullptr;
      arguments_.push_back({value != nullptr ? "(" + *value + ")" : "", value != nullptr ? no_port : port++,
                            is_float(typed.variable_types[k], floats)});
    }
  }

  std::string fresh(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  std::string source(Form form) {
    std::set<std::string> kept = taken_;
    std::string name = "gradcheck";
    while (taken_nodes_.contains(name)) name += "_";
    wrapper_ = name;
    std::string inputs, arguments, outputs, results;
    const auto list = [](std::string& to, const std::string& item) { to += (to.empty() ? "" : ", ") + item; };
    const auto input = [&](const std::string& as, const ChronogramPort& p) {
      list(inputs, as + ": " + std::string(rml::name(p.dtype)) + (p.shape.empty() ? "" : to_string(p.shape)));
      list(arguments, as);
    };
    const auto output = [&](const std::string& as) {
      list(outputs, as);
      list(results, as);
    };
    for (const Argument& a : arguments_)
      if (a.port == no_port)
        list(arguments, a.value);
      else
        input(out_.inputs[a.port].name, out_.inputs[a.port]);
    for (const ChronogramPort& p : out_.outputs) output(p.name);
    if (differentiated(form)) {
      if (form == Form::always) list(arguments, "true");
      if (form == Form::sometimes) input(fresh("bp"), {"", DType::boolean, {}});
      for (const std::uint32_t j : out_.float_outputs) input(fresh("d" + out_.outputs[j].name), out_.outputs[j]);
      for (const Argument& a : arguments_)
        if (a.port != no_port && has_gradient(out_.inputs[a.port].dtype))
          output(fresh("d" + out_.inputs[a.port].name));
        else if (a.port == no_port && a.is_float)
          list(results, "_");
    }
    taken_ = std::move(kept);
    return "\nnode " + name + "(" + inputs + ") -> (" + outputs + ")\n  " + results + " = " +
           (differentiated(form) ? "diff " : "") + node_ + "(" + arguments + ");\n";
  }

  bool make(GradientProgram& to, Form form) {
    Session session(session_.resources);
    session.options = session_.options;
    const bool made = load(session, to, form);
    if (made) return true;
    session_.sources = std::move(session.sources);
    session_.diagnostics = std::move(session.diagnostics);
    return false;
  }

  bool load(Session& session, GradientProgram& to, Form form) {
    const Front front = check_text(session, subject_.name, subject_.text + source(form));
    if (session.failed()) return false;
    const auto entry = find_node(front, wrapper_);
    if (!entry) throw InternalError("the node '" + wrapper_ + "' is not found");
    Core core =
        instantiate(front.checked, *entry, {.keep_stops = !differentiated(form), .limits = session.options.limits},
                    session.diagnostics);
    if (!session.failed()) check_causality(core, session.diagnostics);
    if (session.failed()) return false;
    expose(core, form, to);
    if (out_.widened) widen(core);
    hold(verify(core));
    const auto elaborated = elaborate(session, std::move(core), {}, session.diagnostics);
    if (!elaborated) return false;
    to.core = elaborated->core;
    auto call = external_caller(session, *to.core, subject_.libraries);
    if (!call) return false;
    to.call = std::move(*call);
    if (subject_.engine == Engine::reference) {
      to.program = load_reference(session, to.core, subject_.libraries);
    } else if (const auto arranged = arrange(session, *elaborated, session.diagnostics)) {
      to.program = load_compiled(session, lower(session, *arranged), subject_.libraries);
    }
    return to.program != nullptr;
  }

  Session& session_;
  const GradientSubject& subject_;
  GradientPrograms out_;
  std::string node_, wrapper_;
  std::vector<Argument> arguments_;
  std::set<std::string> taken_, taken_nodes_;
};

}  // namespace

std::optional<GradientPrograms> make_gradient_programs(Session& session, const GradientSubject& subject) {
  return Maker(session, subject).run();
}

}  // namespace rml
