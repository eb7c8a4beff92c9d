// Prints a unit as three functions: whether an instant of it may run, that instant, and the end of a segment.
//
//   NODE_push: queue the inputs; for each unit in its order: while (unit_ready(state)) unit(state)
//   unit:      take the operands; compute; of a segment: count the instant, and after the last one unit_segment
//   NODE_pop:  like a unit whose operands are the rows
#include "lowering/c/print_units.h"

#include <algorithm>

#include "lowering/c/interface.h"
#include "lowering/c/literals.h"
#include "lowering/c/print_block.h"
#include "lowering/c/print_straight.h"
#include "lowering/c/queues.h"
#include "runtime/base/rmlrt.h"

namespace rml::c99 {

using loops::BufferId;

namespace {

constexpr const char* past_all = "(INT64_C(1) << 62)";

class UnitsWriter {
 public:
  UnitsWriter(File&, Code&);
  void print();
  const Queues& queues() const { return queues_; }

 private:
  using Conditions = std::vector<std::pair<ValueId, bool>>;

  struct Operands {
    const std::vector<steps::Operand>& list;
    const std::vector<BufferId>& places;
  };

  std::string state_parameter() const { return file_.name + "_state* state"; }
  const std::string& unit_name(std::size_t u) const { return units_[u].function; }
  std::vector<QueueId> passed_to(const steps::Unit&) const;
  std::string passed(const std::vector<QueueId>&, bool with_types) const;
  std::string condition(const Conditions&, const Operands&, Scope* scope) const;
  std::string ready(const Operands&) const;
  void print_ready(std::size_t u);
  void take(Scope&, const Operands&, bool belated);
  void take_one(Scope&, const steps::Operand&, BufferId, const std::string& when, const std::string& needed);
  void take_flags(Scope&, const steps::Unit&);
  void print_instant(std::size_t u);
  void before(std::size_t u);
  void print_segment(std::size_t u);
  void print_sweep(std::size_t u, const loops::Sweep&);
  void print_push();
  void print_pop();
  std::vector<BufferId> given(const Operands&, bool belated) const;
  void prepare(Scope&, std::size_t u);
  std::string cycle_of(std::size_t u) const;
  void run_segment(std::size_t u);

  struct UnitNames {
    std::string function, cycle, length, start;
  };

  File& file_;
  const steps::Program& steps_;
  const Core& core_;
  Code& code_;
  Queues queues_;
  const std::string rows_ready_ = file_.symbol("rows ready");
  std::vector<UnitNames> units_;
  bool told_ = false;  // true if the operands are those of rows to hand out
  // Local cells of the current sweep, with the names of their variables.
  std::vector<std::pair<BufferId, std::string>> carried_;
};

UnitsWriter::UnitsWriter(File& file, Code& code)
    : file_(file), steps_(file.steps), core_(*file.steps.core), code_(code), queues_(file) {
  for (std::size_t a = 0; a < steps_.arrays.size(); ++a) {
    const steps::ArrayInfo& array = steps_.arrays[a];
    const std::int64_t n = std::max<std::int64_t>(element_count(array.shape).value_or(0), 1);
    file.add_array(static_cast<std::uint32_t>(a),
                   {type_name(array.dtype), "", (n == 1 ? "" : std::to_string(n) + " * ") + file.name + "_SEGMENT",
                    "at each instant of a segment"});
  }
  for (std::size_t u = 0; u < steps_.units.size(); ++u) {
    UnitNames names;
    names.function = file.symbol("unit " + std::to_string(u + 1));
    names.cycle = file.add_field(names.function + " cycle", {"int64_t", "", "", "number of completed instants"});
    if (steps_.units[u].segmented)
      names.length =
          file.add_field(names.function + " length", {"int64_t", "", "", "number of instants of the segment"});
    units_.push_back(names);
  }
}

// The inputs that the unit takes in the cycle that brings them.
std::vector<QueueId> UnitsWriter::passed_to(const steps::Unit& unit) const {
  std::vector<QueueId> list;
  for (const steps::Operand& o : unit.operands)
    if (queues_.passes(o.queue) && std::ranges::find(list, o.queue) == list.end()) list.push_back(o.queue);
  return list;
}

std::string UnitsWriter::passed(const std::vector<QueueId>& list, bool with_types) const {
  std::string text;
  for (const QueueId q : list) {
    const steps::QueueInfo& queue = steps_.queues[q.index];
    const std::string type = port_type(queue.dtype);
    text += ", " + (with_types ? (queue.shape.empty() ? type + " " : "const " + type + "* ") + queues_.passed(q)
                               : queues_.given(q));
  }
  return text;
}

// A conjunction of all conditions. With a scope they are variables, otherwise they are read from their queues. Empty if
// it always holds.
std::string UnitsWriter::condition(const Conditions& conditions, const Operands& operands, Scope* scope) const {
  std::string text;
  for (const auto& [value, positive] : conditions) {
    std::string holds;
    for (std::size_t k = 0; k < operands.list.size() && holds.empty(); ++k)
      if (operands.list[k].value == value)
        holds = scope != nullptr ? scope->variable(operands.places[k])
                                 : queues_.front(operands.list[k].queue, operands.list[k].reader).element;
    if (holds.empty()) holds = literal(std::get<core::Const>(core_[value].rhs).value, 0);
    const bool simple = holds.find(' ') == std::string::npos || holds.back() == ']';
    text += (text.empty() ? "" : " && ") + (positive ? holds : simple ? "!" + holds : "!(" + holds + ")");
  }
  return text;
}

// Statements that return whether all operands have arrived.
std::string UnitsWriter::ready(const Operands& operands) const {
  std::string text;
  for (const steps::Operand& o : operands.list) {
    std::string there = queues_.waiting(o.queue, o.reader);
    if (o.once) there = "(" + there + " || " + queues_.front(o.queue, o.reader).cursor + " == " + past_all + ")";
    Conditions all = o.when;
    all.insert(all.end(), o.needed.begin(), o.needed.end());
    const std::string asked = condition(all, operands, nullptr);
    text += "if (" + (asked.empty() ? "" : asked + " && ") + "!(" + there + ")) return false;\n";
  }
  return text;
}

void UnitsWriter::print_ready(std::size_t u) {
  const steps::Unit& unit = steps_.units[u];
  Code body;
  body.open("");
  const std::string text = ready({unit.operands, file_.program.units[u].operands});
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    body.line(text.substr(at, text.find('\n', at) - at));
  for (const std::uint32_t input : unit.raw_inputs)
    body.line("if (!(" + queues_.waiting(steps_.input_flags[input], 0) + ")) return false;");
  const bool paced = !unit.raw_inputs.empty() || std::ranges::any_of(unit.operands, [](const steps::Operand& o) {
    return o.when.empty() && !o.once;
  });
  const bool counts = !paced && unit.clock == base_clock;
  if (unit.clock == never_clock)
    body.line("return false;");
  else
    body.line(counts ? "return state->" + units_[u].cycle + " <= state->cycles;" : "return true;");
  body.close();
  const std::vector<QueueId> list = passed_to(unit);
  code_.line("static bool " + unit_name(u) + "_ready(const " + state_parameter() + passed(list, true) + ") {");
  const std::string lines = body.text().substr(body.text().find('\n') + 1);
  std::vector<std::string> names = {"state"};
  for (const QueueId q : list) names.push_back(queues_.passed(q));
  code_.raw(unused(names, lines) + lines);
}

std::vector<BufferId> UnitsWriter::given(const Operands& operands, bool belated) const {
  std::vector<BufferId> list;
  for (std::size_t k = 0; k < operands.list.size(); ++k)
    if (operands.list[k].belated == belated) list.push_back(operands.places[k]);
  return list;
}

// Takes a scalar as a variable, and a tensor in place.
void UnitsWriter::take_one(Scope& scope, const steps::Operand& o, BufferId b, const std::string& when,
                           const std::string& needed) {
  const loops::Buffer& buffer = file_[b];
  const Source from = queues_.front(o.queue, o.reader);
  const std::string name = scope.variable(b), type = type_name(buffer.dtype);
  const bool scalar = buffer.shape.empty();
  std::string look = needed;
  if (o.once) look += (look.empty() ? "" : " && ") + from.cursor + " != " + past_all;
  std::string address = from.address;
  if (!scalar && queues_.passes(o.queue) && buffer.dtype == DType::boolean) address = "(const bool*)" + address;
  const std::string value = scalar ? from.element : address;
  std::string nothing = "0";
  if (!scalar && (!look.empty() || !when.empty()))
    nothing = file_.zeros(buffer.dtype, element_count(buffer.shape).value_or(0));
  const std::string chosen = look.empty() ? value : "(" + look + ") ? " + value + " : " + nothing;
  const std::string head = (scalar ? "" : "const ") + type + (scalar ? " " : "* ") + name;
  Code& code = scope.code;
  const std::string next = o.once ? from.cursor + " = " + past_all + ";" : "++" + from.cursor + ";";
  if (when.empty()) {
    code.line((scalar ? "const " : "") + head + " = " + chosen + ";");
    code.line(next);
  } else {
    code.line(head + " = " + nothing + ";");
    code.open("if (" + when + ")");
    code.line(name + " = " + chosen + ";");
    code.line(next);
    code.close();
  }
  if (!scalar && element_count(buffer.shape).value_or(0) == 0) code.line("(void)" + name + ";");
  if (!told_) scope.declared(name, when.empty());
}

void UnitsWriter::take(Scope& scope, const Operands& operands, bool belated) {
  for (std::size_t k = 0; k < operands.list.size(); ++k) {
    const steps::Operand& o = operands.list[k];
    if (o.belated != belated) continue;
    take_one(scope, o, operands.places[k], condition(o.when, operands, &scope), condition(o.needed, operands, &scope));
  }
}

void UnitsWriter::take_flags(Scope& scope, const steps::Unit& unit) {
  scope.inputs = input_ports(core_);
  for (const std::uint32_t input : unit.raw_inputs) {
    const Source flag = queues_.front(steps_.input_flags[input], 0);
    const std::string name = file_.names.unique(scope.inputs[input].present);
    scope.inputs[input].present = name;
    scope.code.line("const bool " + name + " = " + flag.element + ";");
    scope.code.line("++" + flag.cursor + ";");
    scope.code.line("(void)" + name + ";");
  }
}

std::string UnitsWriter::cycle_of(std::size_t u) const {
  return steps_.units[u].clock == base_clock ? "state->" + units_[u].cycle : "state->cycles";
}

void UnitsWriter::prepare(Scope& scope, std::size_t u) {
  scope.push = [this](QueueId q) { return queues_.push(q); };
  scope.take = [this](std::uint32_t input) { return queues_.front(steps_.input_queues[input], 0); };
  scope.cycle = cycle_of(u);
  scope.first = "position == 0";
  scope.last = scope.last_flag = "last";
  scope.position = "position";
  scope.name_variables();
  place_tensors(scope);
}

void UnitsWriter::run_segment(std::size_t u) {
  code_.open("if (last)");
  code_.line("if (" + unit_name(u) + "_segment(state) != 0) return state->fault;");
  code_.line("state->" + units_[u].length + " = 0;");
  code_.close();
}

// Completes the previous instant, because its last operands have arrived.
void UnitsWriter::before(std::size_t u) {
  const steps::Unit& unit = steps_.units[u];
  const loops::Unit& loops = file_.program.units[u];
  const Operands operands{unit.operands, loops.operands};
  code_.open("");
  const Plan plan(file_.program, loops.before, given(operands, true));
  Scope scope(file_, plan, code_, file_.names);
  prepare(scope, u);
  code_.line("bool last = false;");
  take(scope, operands, true);
  code_.open("if (state->" + units_[u].length + " > 0)");
  code_.line("const int64_t position = state->" + units_[u].length + " - 1;");
  code_.line("(void)position;");
  print_block(scope, loops.before);
  scope.finish();
  run_segment(u);
  code_.close();
  code_.close();
}

void UnitsWriter::print_instant(std::size_t u) {
  const steps::Unit& unit = steps_.units[u];
  const loops::Unit& loops = file_.program.units[u];
  const Operands operands{unit.operands, loops.operands};
  const std::vector<QueueId> list = passed_to(unit);
  code_.blank();
  code_.open("static int32_t " + unit_name(u) + "(" + state_parameter() + passed(list, true) + ")");
  for (const QueueId q : list) code_.line("(void)" + queues_.passed(q) + ";");
  if (unit.looks_back()) before(u);
  Names names = file_.names;
  for (const QueueId q : list) names.take(queues_.passed(q));
  const Plan plan(file_.program, loops.instant, given(operands, false));
  Scope scope(file_, plan, code_, names);
  prepare(scope, u);
  if (unit.segmented) {
    code_.line("const int64_t position = state->" + units_[u].length + ";");
    if (!unit.looks_back()) code_.line("bool last = false;");
    const bool arrays = std::ranges::any_of(steps_.arrays, [&](const steps::ArrayInfo& a) { return a.unit == u; });
    if (arrays)
      code_.line("if (position >= " + file_.name + "_SEGMENT) return fail(state, " + std::to_string(RML_FAULT_MEMORY) +
                 ", 1, " + scope.cycle + ", 0, 0);");
  }
  take_flags(scope, unit);
  take(scope, operands, false);
  print_block(scope, loops.instant);
  scope.finish();
  if (unit.segmented) {
    code_.line("state->" + units_[u].length + " = position + 1;");
    if (!unit.looks_back()) run_segment(u);
  }
  code_.line("++state->" + units_[u].cycle + ";");
  code_.line("return 0;");
  code_.close();
}

// Visits the instants in order, or in reverse.
void UnitsWriter::print_sweep(std::size_t u, const loops::Sweep& sweep) {
  const auto block = [&](const loops::Block& b, const std::string& position, const std::string& loop) {
    if (b.statements.empty()) return;
    code_.open(loop);
    const Plan plan(file_.program, b, {});
    Scope scope(file_, plan, code_, file_.names);
    for (const auto& [cell, name] : carried_) scope.call_it(cell, name);
    prepare(scope, u);
    const bool on_base = steps_.units[u].clock == base_clock;
    const std::string added = steps_.units[u].looks_back() ? "" : " + 1";
    if (on_base) scope.cycle = cycle_of(u) + added + " - length + " + position;
    scope.position = position;
    scope.first = position + " == 0";
    scope.last = position + " == length - 1";
    print_block(scope, b);
    scope.finish();
    code_.close();
  };
  const std::string begin = sweep.backward ? "length - 1" : "0";
  block(sweep.prologue, begin, "");
  block(sweep.body, "position",
        sweep.backward ? "for (int64_t position = length - 1; position >= 0; --position)"
                       : "for (int64_t position = 0; position < length; ++position)");
}

void UnitsWriter::print_segment(std::size_t u) {
  const loops::Unit& loops = file_.program.units[u];
  code_.blank();
  code_.comment("After the last instant of a segment: computations over the whole segment.");
  code_.open("static int32_t " + unit_name(u) + "_segment(" + state_parameter() + ")");
  code_.line("const int64_t length = state->" + units_[u].length + ";");
  code_.line("(void)length;");
  for (std::size_t k = 0; k < loops.sweeps.size(); ++k) {
    code_.comment(std::string(loops.sweeps[k].backward ? "backward" : "forward") + " sweep");
    code_.open("");
    carried_.clear();
    for (std::uint32_t b = 0; b < file_.program.buffers.size(); ++b) {
      const loops::Buffer& buffer = file_.program.buffers[b];
      if (buffer.space != loops::Space::cell || !steps_.cells[buffer.index].local) continue;
      const Plan in_prologue(file_.program, loops.sweeps[k].prologue, {}),
          in_body(file_.program, loops.sweeps[k].body, {});
      if (!in_prologue.names(BufferId{b}) && !in_body.names(BufferId{b})) continue;
      const std::string name = file_.names.unique("carried");
      carried_.emplace_back(BufferId{b}, name);
      const std::string type = type_name(buffer.dtype);
      const std::int64_t n = std::max<std::int64_t>(element_count(buffer.shape).value_or(0), 1);
      code_.line(buffer.shape.empty() ? type + " " + name + " = 0;"
                                      : type + " " + name + "[" + std::to_string(n) + "] = {0};");
      code_.line("(void)" + name + ";");
    }
    print_sweep(u, loops.sweeps[k]);
    code_.close();
  }
  if (!loops.commit.statements.empty()) {
    code_.open("");
    const Plan plan(file_.program, loops.commit, {});
    Scope scope(file_, plan, code_, file_.names);
    prepare(scope, u);
    scope.position = "length - 1";
    scope.last = "true";
    scope.first = "length == 1";
    print_block(scope, loops.commit);
    scope.finish();
    code_.close();
  }
  code_.line("return 0;");
  code_.close();
}

void UnitsWriter::print_push() {
  Code body;
  body.open("");
  body.line("if (state->fault != 0) return state->fault;");
  const std::vector<Port> inputs = input_ports(core_);
  for (std::size_t k = 0; k < core_.inputs.size(); ++k) {
    const Value& value = core_[core_.inputs[k].value];
    const auto& [name, present] = inputs[k];
    const QueueId values = steps_.input_queues[k];
    const QueueId flags = k < steps_.input_flags.size() ? steps_.input_flags[k] : QueueId();
    const bool truth = value.dtype == DType::boolean;
    const std::string given = truth ? (value.shape.empty() ? name + " != 0" : "(const bool*)" + name) : name;
    const auto put = [&](QueueId q, const std::string& what) {
      const std::string function = q.valid() ? queues_.push(q) : "";
      if (!function.empty()) body.line("if (" + function + "(state, " + what + ") != 0) return state->fault;");
    };
    if (value.clock == base_clock) {
      put(values, given);
      continue;
    }
    put(flags, present + " != 0");
    if (!values.valid() || queues_.push(values).empty()) continue;
    body.open("if (" + present + " != 0)");
    put(values, given);
    body.close();
  }
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const std::string arguments = "(state" + passed(passed_to(steps_.units[u]), false) + ")";
    body.open("while (" + unit_name(u) + "_ready" + arguments + ")");
    body.line("if (" + unit_name(u) + arguments + " != 0) return state->fault;");
    body.close();
  }
  body.line("++state->cycles;");
  body.line("return 0;");
  body.close();
  code_.blank();
  code_.line("int32_t " + file_.name + "_push(" + state_parameter() + parameter_list(input_parameters(core_), false) +
             ") {");
  const std::string text = body.text().substr(body.text().find('\n') + 1);
  std::vector<std::string> names;
  for (const InterfaceParameter& p : input_parameters(core_)) names.push_back(p.name);
  code_.raw(unused(names, text) + text);
}

void UnitsWriter::print_pop() {
  const steps::Emitter& emitter = steps_.emitter;
  const Operands operands{emitter.operands, file_.program.rows};
  Code body;
  body.open("");
  const loops::Block nothing;
  const Plan plan(file_.program, nothing, given(operands, false));
  Names names = file_.names;
  for (const InterfaceParameter& p : output_parameters(core_)) names.take(p.name);
  Scope scope(file_, plan, body, names);
  told_ = true;
  body.line("if (!" + rows_ready_ + "(state) || state->rows >= state->cycles) return 0;");
  take(scope, operands, false);
  const std::vector<Port> outputs = output_ports(core_);
  for (const auto& [output, index] : emitter.outputs) {
    const auto& [name, present] = outputs[output];
    const steps::Operand& o = emitter.operands[index];
    const BufferId b = operands.places[index];
    const std::string when = condition(o.when, operands, &scope), flag = "*" + present + " = ";
    const bool told = !present.empty();
    if (told) body.line(flag + "0;");
    if (!when.empty()) body.open("if (" + when + ")");
    if (told) body.line(flag + "1;");
    const std::int64_t n = element_count(file_[b].shape).value_or(0);
    if (file_[b].shape.empty())
      body.line("*" + name + " = " + scope.variable(b) + ";");
    else if (n > 0)
      body.line("memcpy(" + name + ", " + scope.variable(b) + ", " + std::to_string(n) + " * sizeof(" +
                type_name(file_[b].dtype) + "));");
    if (!when.empty()) body.close();
  }
  body.line("++state->rows;");
  body.line("return 1;");
  body.close();
  code_.blank();
  code_.open("static bool " + rows_ready_ + "(const " + state_parameter() + ")");
  const std::string asked = ready(operands);
  code_.line("(void)state;");
  for (std::size_t at = 0; at < asked.size(); at = asked.find('\n', at) + 1)
    code_.line(asked.substr(at, asked.find('\n', at) - at));
  code_.line("return true;");
  code_.close();
  code_.blank();
  code_.line("int32_t " + file_.name + "_pop(" + state_parameter() + parameter_list(output_parameters(core_), false) +
             ") {");
  const std::string text = body.text().substr(body.text().find('\n') + 1);
  std::vector<std::string> parameters;
  for (const InterfaceParameter& p : output_parameters(core_)) parameters.push_back(p.name);
  code_.raw(unused(parameters, text) + text);
}

void UnitsWriter::print() {
  Code& out = code_;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    out.blank();
    print_ready(u);
    if (steps_.units[u].segmented) print_segment(u);
    print_instant(u);
  }
  print_push();
  print_pop();
}

}  // namespace

Units print_units(File& file) {
  Units units;
  UnitsWriter writer(file, units.functions);
  writer.print();
  units.of_queues = writer.queues().functions();
  writer.queues().set_initial(units.initial);
  return units;
}

}  // namespace rml::c99
