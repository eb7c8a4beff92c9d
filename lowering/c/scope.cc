// Finds the elements of a buffer in C: a variable, a parameter, a field of the state, a table of constants.
#include "lowering/c/scope.h"

#include <array>

#include "lowering/c/literals.h"
#include "semantics/values/overloaded.h"

namespace rml::c99 {

using loops::BufferId;
using loops::Space;

namespace {

constexpr std::size_t longest_inlined = 60;

std::int64_t count_of(const Shape& shape) { return element_count(shape).value_or(0); }

}  // namespace

Expression number(const Tensor& t) {
  std::string text = literal(t, 0);
  const Binding binding = text[0] == '-' ? Binding::sign : Binding::name;
  return {std::move(text), binding};
}

void Scope::keep_in_state(BufferId b) {
  const loops::Buffer& buffer = file[b];
  const std::string count = std::to_string(std::max<std::int64_t>(count_of(buffer.shape), 1));
  moved_.insert(b);
  variables_[b] = "state->" + file.add_field(wanted_name(b), {type_name(buffer.dtype), "", count, "within one step"});
}

Scope::Scope(File& f, const Plan& p, Code& c, Names n)
    : file(f), plan(p), code(c), names_(std::move(n)), begin_(c.size()) {}

// The name of a memory `x fby y`; also that of a choice between the first value and the memory,
// which shares the memory's variable.
std::string Scope::memory_name(const Core& core, ValueId v) const {
  if (const auto* merge = std::get_if<core::Merge>(&core[v].rhs)) v = merge->on_false;
  if (const auto* when = std::get_if<core::When>(&core[v].rhs)) v = when->operand;
  if (&core != file.steps.core.get() || !std::holds_alternative<core::Fby>(core[v].rhs)) return "";
  for (const steps::CellInfo& cell : file.steps.cells)
    if (cell.fby == v && !cell.name.empty()) return cell.name;
  return "";
}

// The name to use if it is free: the user's name, or the name of the operator.
std::string Scope::wanted_name(BufferId b) const {
  const loops::Buffer& buffer = file[b];
  if (!buffer.value.valid()) return buffer.space == Space::scratch ? "part" : "value";
  const Core& core = file.core(buffer.body);
  const Value& value = core[buffer.value];
  if (!value.name.empty()) return value.name;
  if (const std::string memory = memory_name(core, buffer.value); !memory.empty()) return memory;
  return std::visit(Overloaded{
                        [](const core::Const&) { return std::string("constant"); },
                        [](const core::Input&) { return std::string("input"); },
                        [](const core::Apply& a) { return std::string(operators()[a.op].name) + "_1"; },
                        [](const core::Call&) { return std::string("result"); },
                        [](const core::Result&) { return std::string("result"); },
                        [](const core::When&) { return std::string("sample"); },
                        [](const core::Merge&) { return std::string("choice"); },
                        [](const core::Fby&) { return std::string("before"); },
                        [](const core::Post&) { return std::string("next"); },
                    },
                    value.rhs);
}

void Scope::name_variables() {
  for (const BufferId b : plan.locals()) {
    const loops::Buffer& buffer = file[b];
    if (buffer.value.valid() && !file.core(buffer.body)[buffer.value].name.empty()) variable(b);
  }
  for (const char* const wanted : {"i", "j", "k", "l", "m", "p", "q", "r"}) letters_.push_back(names_.unique(wanted));
}

const std::string& Scope::letter(std::size_t k) {
  while (k >= letters_.size()) letters_.push_back(names_.unique("i"));
  return letters_[k];
}

std::string Scope::variable(BufferId b) {
  std::string& text = variables_[b];
  if (text.empty()) text = names_.unique(wanted_name(b));
  return text;
}

std::string Scope::temporary(DType dtype, const Expression& e) {
  std::string symbol = names_.unique("t");
  constants_.push_back(symbol);
  code.line("const " + type_name(dtype) + " " + symbol + " = " + e.text + ";");
  return symbol;
}

std::string Scope::field_of(BufferId b) {
  const loops::Buffer& buffer = file[b];
  switch (buffer.space) {
    case Space::constant:
      return file.constant(b);
    case Space::cell:
      if (file.steps.cells[buffer.index].local) return variable(b);
      return "state->" + file.cell(buffer.index);
    case Space::array:
      return "state->" + file.array(buffer.index);
    case Space::input:
      return inputs[buffer.index].value;
    case Space::output:
      return outputs[buffer.index].value;
    case Space::value:
    case Space::scratch:
      return variable(b);
  }
  return "";
}

std::string Scope::place(BufferId b, const std::string& index) {
  const BufferId root = plan.root(b);
  const loops::Buffer& buffer = file[root];
  const std::string name = field_of(root);
  if (buffer.space == Space::array) {
    const std::int64_t n = count_of(buffer.shape);
    const std::string first = n == 1 ? position
                                     : std::to_string(n) + " * " +
                                           (position.find(' ') == std::string::npos ? position : "(" + position + ")");
    return name + "[" + first + (buffer.shape.empty() || index == "0" ? "" : " + " + index) + "]";
  }
  if (buffer.shape.empty()) return (buffer.space == Space::output ? "*" : "") + name;
  return name + "[" + index + "]";
}

std::string Scope::array(BufferId b) {
  const BufferId root = plan.root(b);
  const loops::Buffer& buffer = file[root];
  const std::string name = field_of(root);
  if (buffer.space == Space::array) return "&" + place(root, "0");
  if (buffer.shape.empty()) return buffer.space == Space::output ? name : "&" + name;
  return name;
}

Expression Scope::read(BufferId b, const std::string& index) {
  if (const auto found = pending_.find(b); found != pending_.end()) return found->second;
  const BufferId root = plan.root(b);
  const loops::Buffer& buffer = file[root];
  if (buffer.space == Space::constant && count_of(buffer.shape) == 1) return number(file.elements(root));
  Expression e = name_of(place(root, index));
  if (buffer.space == Space::output && buffer.shape.empty()) e.binding = Binding::sign;
  if (buffer.space == Space::input && buffer.dtype == DType::boolean) e = {e.text + " != 0", Binding::equality};
  const bool still = buffer.space == Space::constant || buffer.space == Space::input ||
                     (buffer.shape.empty() && plan.of(root).constant && plan.of(root).kind == Fate::local);
  if (!still) e.reads.insert(root);
  return e;
}

void Scope::define(BufferId b, const Expression& e) {
  if (b == captures_) {
    captured_ = e;
    return;
  }
  const loops::Buffer& buffer = file[b];
  const Fate& fate = plan.of(b);
  const bool own = buffer.space == Space::value || buffer.space == Space::scratch;
  if (own && fate.kind == Fate::alias) return;
  if (own && fate.kind == Fate::inlined && e.text.size() <= longest_inlined) {
    pending_[b] = e;
    return;
  }
  const bool declares = own && (fate.kind == Fate::inlined || fate.at_definition) && declared_.insert(b).second;
  const bool constant = fate.kind == Fate::inlined || fate.constant;
  const std::string head = declares ? (constant ? "const " : "") + type_name(buffer.dtype) + " " : "";
  // Skips a state that a round passes on unchanged: compilers warn if a variable is assigned to itself.
  if (!declares && place(b, "") == e.text) return;
  code.line(head + place(b, "") + " = " + e.text + ";");
  if (declares && constant) constants_.push_back(place(b, ""));
}

Expression Scope::captured() {
  captures_ = {};
  return captured_;
}

void Scope::declare(Place at) {
  for (const BufferId b : plan.declared_before(at)) {
    const loops::Buffer& buffer = file[b];
    if (moved_.contains(b)) continue;
    const std::string name = variable(b), type = type_name(buffer.dtype);
    hoisted_.push_back(name);
    if (buffer.shape.empty())
      code.line(type + " " + name + " = 0;");
    else
      code.line(type + " " + name + "[" + std::to_string(std::max<std::int64_t>(count_of(buffer.shape), 1)) + "]" +
                (file.steps.straight && !plan.of(b).conditional
                     ? ";"
                     // A memory may take the value before it is computed, so the variable begins with zeros.
                     : " = {0};"));
    const bool named = buffer.shape.empty() || (plan.is_read(b) && count_of(buffer.shape) > 0);
    if (!named) code.line("(void)" + name + ";");
  }
}

void Scope::explain(ValueId of) {
  if (!of.valid()) return;
  const std::string text = file.equation(file.core(body), of);
  if (text.empty() || text == explained_) return;
  before_ = explained_;
  explained_ = text;
  commented_ = code.size();
  code.comment(text);
  written_ = code.size();
}

void Scope::done() {
  if (commented_ != SIZE_MAX && code.size() == written_) {
    code.truncate(commented_);
    explained_ = before_;
  }
  commented_ = SIZE_MAX;
}

void Scope::fail(const std::string& condition, int kind, std::size_t site, const std::string& value,
                 const std::string& bound) {
  code.line("if (" + condition + ") return fail(state, " + std::to_string(kind) + ", " + std::to_string(site) + ", " +
            cycle + ", " + value + ", " + bound + ");");
}

}  // namespace rml::c99
