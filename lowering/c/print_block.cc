// Prints copies, branches, rounds, calls, random draws, and statements that stop a step.
#include "lowering/c/print_block.h"

#include <functional>

#include "lowering/c/drawing.h"
#include "lowering/c/literals.h"
#include "lowering/c/print_nest.h"
#include "lowering/signature.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml::c99 {

using loops::BufferId;
using loops::Space;

namespace {

class BlockWriter {
 public:
  explicit BlockWriter(Scope& scope) : scope_(scope), file_(scope.file), code_(scope.code) {}

  void print(const loops::Block&);

 private:
  bool scalar(BufferId b) const { return file_[b].shape.empty(); }
  std::int64_t count(BufferId b) const { return element_count(file_[b].shape).value_or(0); }
  std::string bytes(BufferId b) const {
    return std::to_string(count(b)) + " * sizeof(" + type_name(file_[b].dtype) + ")";
  }

  void emit(const loops::Nest& s) { print_nest(scope_, s); }
  void emit(const loops::Copy&);
  void emit(const loops::Kernel&);
  void emit(const loops::ExternalCall&);
  void emit(const loops::Rounds&);
  void emit(const loops::Branch&);
  Expression condition_of(const loops::Branch&, bool positive);
  void choose(const loops::Branch&, BufferId);
  void emit(const loops::Push&);
  void emit(const loops::Expect&);
  void emit(const loops::Assert&);
  void emit(const loops::SideCell&);
  void emit(const loops::MarkLast&);
  void draw_orthogonal(const loops::Kernel&, const std::string& function, const core::Apply&);
  void slice(const loops::Rounds::Slice&, const std::string& round, bool taken);

  Scope& scope_;
  File& file_;
  Code& code_;
};

void BlockWriter::print(const loops::Block& block) {
  for (std::size_t k = 0; k < block.statements.size(); ++k) {
    scope_.declare({&block, static_cast<std::ptrdiff_t>(k)});
    std::visit([&](const auto& s) { emit(s); }, block.statements[k]);
  }
}

void BlockWriter::emit(const loops::Copy& s) {
  const loops::Buffer& to = file_[s.to];
  if (file_[s.from].space == Space::input && scope_.take != nullptr) {
    const Source from = scope_.take(file_[s.from].index);
    if (scalar(s.to))
      scope_.define(s.to, name_of(from.element));
    else if (count(s.to) > 0)
      code_.line("memcpy(" + scope_.array(s.to) + ", " + from.address + ", " + bytes(s.to) + ");");
    return code_.line("++" + from.cursor + ";");
  }
  if (scope_.plan.root(s.to) != scope_.plan.root(s.from)) {
    if (to.space == Space::value && !file_.core(to.body)[to.value].name.empty()) scope_.explain(to.value);
    if (scalar(s.to))
      scope_.define(s.to, scope_.read(s.from, "0"));
    else if (count(s.to) > 0)
      code_.line("memcpy(" + scope_.array(s.to) + ", " + scope_.array(s.from) + ", " + bytes(s.to) + ");");
    scope_.done();
  }
  if (to.space == Space::output && !scope_.outputs[to.index].present.empty())
    code_.line("*" + scope_.outputs[to.index].present + " = 1;");
}

// The two parameters of a distribution (runtime/kernels/random.cc).
std::pair<double, double> parameters_of(const core::Apply& apply, const std::string& symbol, const Shape& shape) {
  double given[2] = {0, 0};
  std::size_t attribute = 0, number = 0;
  for (const OperatorParameter& p : operators()[apply.op].parameters) {
    if (p.kind == ParameterKind::number && number < 2) given[number++] = apply.attributes[attribute].number;
    if (p.kind != ParameterKind::operand) ++attribute;
  }
  if (const auto scaled_draw = operators()[apply.op].scaled_draw; scaled_draw != nullptr) {
    const ScaledDraw plain = scaled_draw(shape);
    return {plain.first, plain.second};
  }
  if (symbol == "rml_random_uniform") return {given[0], given[1] < given[0] ? given[0] : given[1]};
  return {given[0], given[1]};
}

void BlockWriter::emit(const loops::Kernel& s) {
  scope_.explain(s.of);
  const Core& core = file_.core(scope_.body);
  const core::Apply& apply = *apply_of(core, s.of);
  const auto [a, b] = parameters_of(apply, s.symbol, core[s.of].shape);
  const std::string function = add_drawing(file_.helpers, s.symbol, core[s.of].dtype);
  if (s.symbol == "rml_random_orthogonal") return draw_orthogonal(s, function, apply);
  const auto real = [](double x) { return literal(Tensor::scalar(DType::f64, x), 0); };
  code_.line(function + "(" + scope_.array(s.result) + ", " + std::to_string(count(s.result)) + ", " + real(a) + ", " +
             real(b) + ", state->seed, UINT64_C(" + std::to_string(apply.key) + "), " +
             scope_.read(s.operands.back(), "0").text + ");");
}

void BlockWriter::draw_orthogonal(const loops::Kernel& s, const std::string& function, const core::Apply& apply) {
  const Shape& shape = file_.core(scope_.body)[s.of].shape;
  const std::int64_t all = count(s.result), rows = shape.size() < 2 ? 1 : shape[0];
  if (all == 0) return;
  const steps::Program& part = scope_.body == UINT32_MAX ? file_.steps : *file_.program.bodies[scope_.body];
  const std::uint32_t site = s.of.index < part.value_sites.size() ? part.value_sites[s.of.index] : UINT32_MAX;
  scope_.fail("!" + function + "(" + scope_.array(s.result) + ", " + std::to_string(rows) + ", " +
                  std::to_string(all / rows) + ", state->seed, UINT64_C(" + std::to_string(apply.key) + "), " +
                  scope_.read(s.operands.back(), "0").text + ")",
              RML_FAULT_NUMERIC, file_.site(file_.program, scope_.body, site), "0", "0");
}

// Scalars are passed by value, everything else by address; a Boolean is a byte there.
void BlockWriter::emit(const loops::ExternalCall& s) {
  scope_.explain(s.of);
  const ExternalNode& node = file_.core(scope_.body).externals[s.external];
  const std::string called = file_.declare_external(node);
  std::string arguments;
  const auto cast = [&](BufferId b, const char* type) { return file_[b].dtype == DType::boolean ? type : ""; };
  for (const BufferId b : s.operands)
    arguments += (arguments.empty() ? "" : ", ") +
                 (scalar(b) ? scope_.read(b, "0").text : cast(b, "(const uint8_t*)") + scope_.array(b));
  for (std::size_t k = 0; k < s.results.size(); ++k) {
    std::string to;
    if (s.results[k].valid()) {
      to = cast(s.results[k], "(uint8_t*)") + scope_.array(s.results[k]);
    } else {
      const auto& [dtype, shape] = node.outputs[k];
      to = "(" + port_type(dtype) + "[" + std::to_string(element_count(shape).value_or(1)) + "]){0}";
    }
    arguments += (arguments.empty() ? "" : ", ") + to;
  }
  code_.line(called + "(" + arguments + ");");
}

void BlockWriter::slice(const loops::Rounds::Slice& s, const std::string& round, bool taken) {
  if (scalar(s.element)) {
    if (taken)
      scope_.define(s.element, scope_.read(s.whole, round));
    else
      code_.line(scope_.place(s.whole, round) + " = " + scope_.read(s.element, "").text + ";");
    return;
  }
  const std::string n = std::to_string(count(s.element));
  const std::string whole = scope_.array(s.whole) + " + " + n + " * " + round, element = scope_.array(s.element);
  if (count(s.element) > 0)
    code_.line("memcpy(" + (taken ? element + ", " + whole : whole + ", " + element) + ", " + bytes(s.element) + ");");
}

// Prints nothing for rounds without statements.
void BlockWriter::emit(const loops::Rounds& s) {
  const std::size_t begin = code_.size();
  scope_.explain(s.of);
  const std::string round = scope_.letter(scope_.depth), length = std::to_string(s.length);
  code_.open(s.reverse ? "for (int32_t " + round + " = " + std::to_string(s.length - 1) + "; " + round + " >= 0; --" +
                             round + ")"
                       : "for (int32_t " + round + " = 0; " + round + " < " + length + "; ++" + round + ")");
  const std::uint32_t around = scope_.body;
  scope_.body = s.body;
  ++scope_.depth;
  const std::size_t opened = code_.size();
  scope_.declare({s.block.get(), -1});
  for (const loops::Rounds::Slice& x : s.taken) slice(x, round, true);
  print(*s.block);
  for (const loops::Rounds::Slice& x : s.stacked) slice(x, round, false);
  --scope_.depth;
  scope_.body = around;
  const bool nothing = code_.size() == opened;
  code_.close();
  scope_.done();
  if (nothing) code_.truncate(begin);
}

Expression BlockWriter::condition_of(const loops::Branch& s, bool positive) {
  if (s.kind == steps::Test::value) {
    const Expression holds = scope_.read(s.condition, "0");
    return positive ? holds : with_sign("!", holds);
  }
  Expression where = name_of(s.kind == steps::Test::first ? scope_.first : scope_.last);
  const std::size_t equals = where.text.find(" == ");
  if (equals == std::string::npos) return positive ? where : with_sign("!", where);
  where.binding = Binding::equality;
  if (!positive) where.text[equals + 1] = '!';
  return where;
}

// A value that is computed in its storage needs no copy, which may leave a side of the branch empty.
void BlockWriter::emit(const loops::Branch& s) {
  if (const BufferId b = scope_.plan.choice(s); b.valid()) return choose(s, b);
  const bool swapped = s.then_block->statements.empty();
  if (swapped && s.else_block->statements.empty()) return;
  const std::size_t begin = code_.size();
  code_.open("if (" + condition_of(s, s.positive != swapped).text + ")");
  const std::size_t opened = code_.size();
  print(swapped ? *s.else_block : *s.then_block);
  const bool nothing = code_.size() == opened;
  bool alone = true;
  if (!swapped && !s.else_block->statements.empty()) {
    const std::size_t middle = code_.size();
    code_.reopen("} else {");
    const std::size_t reopened = code_.size();
    print(*s.else_block);
    alone = code_.size() == reopened;
    if (alone) code_.truncate(middle);
  }
  code_.close();
  if (nothing && alone) code_.truncate(begin);
}

// Prints a choice between two expressions.
void BlockWriter::choose(const loops::Branch& s, BufferId b) {
  const Expression condition = condition_of(s, true);
  const ValueId value = file_[b].value;
  if (value.valid() && !file_.core(scope_.body)[value].name.empty()) scope_.explain(value);
  scope_.capture(b);
  print(s.positive ? *s.then_block : *s.else_block);
  const Expression holds = scope_.captured();
  scope_.capture(b);
  print(s.positive ? *s.else_block : *s.then_block);
  scope_.define(b, choice(condition, holds, scope_.captured()));
}

void BlockWriter::emit(const loops::Push& s) {
  const std::string function = scope_.push(s.queue);
  if (function.empty()) return;
  const std::string value = scalar(s.from) ? scope_.read(s.from, "0").text : scope_.array(s.from);
  code_.line("if (" + function + "(state, " + value + ") != 0) return state->fault;");
}

void BlockWriter::emit(const loops::Expect& s) {
  const std::string present = scope_.inputs[s.input].present;
  scope_.fail(present + (s.present ? " == 0" : " != 0"), RML_FAULT_PRESENCE, 0, std::to_string(s.input),
              s.present ? "0" : "1");
}

void BlockWriter::emit(const loops::Assert& s) {
  scope_.fail(with_sign("!", scope_.read(s.condition, "0")).text, RML_FAULT_ASSERT,
              file_.site(file_.program, scope_.body, s.site), "0", "0");
}

void BlockWriter::emit(const loops::SideCell& s) {
  const std::string cell = "state->" + file_.cell(s.cell.index);
  scope_.fail((s.positive ? "!" : "") + cell, RML_FAULT_SIDE, file_.site(file_.program, scope_.body, s.site), "0", "0");
}

void BlockWriter::emit(const loops::MarkLast& s) {
  const Expression holds = scope_.read(s.condition, "0");
  code_.line(scope_.last_flag + " = " + (s.positive ? holds : with_sign("!", holds)).text + ";");
}

}  // namespace

void print_block(Scope& scope, const loops::Block& block) { BlockWriter(scope).print(block); }

namespace {

class Refusals {
 public:
  explicit Refusals(const loops::Program& program) : program_(program) {}
  std::vector<loops::Refusal> found;

  void block(const loops::Block& b, const Core& core) {
    for (const loops::Statement& s : b.statements) statement(s, core);
  }

 private:
  void statement(const loops::Statement& s, const Core& core) {
    std::visit(Overloaded{
                   [](const loops::Nest&) {},
                   [](const loops::Copy&) {},
                   [&](const loops::Kernel& k) { kernel(k, core); },
                   [&](const loops::ExternalCall& c) {
                     const ExternalNode& node = core.externals[c.external];
                     if (node.calling != Calling::plain)
                       found.push_back({core[c.of].span, "`" + node.symbol + "`, which ranks meet in"});
                   },
                   [&](const loops::Rounds& r) { block(*r.block, *program_.bodies[r.body]->core); },
                   [&](const loops::Branch& b) { block(*b.then_block, core), block(*b.else_block, core); },
                   [](const loops::Push&) {},
                   [](const loops::Expect&) {},
                   [](const loops::Assert&) {},
                   [](const loops::SideCell&) {},
                   [](const loops::MarkLast&) {},
               },
               s);
  }
  void kernel(const loops::Kernel& k, const Core& core) {
    Names names;
    Helpers helpers(names);
    if (!add_drawing(helpers, k.symbol, core[k.of].dtype).empty()) return;
    const core::Apply* apply = apply_of(core, k.of);
    const std::string name = apply == nullptr ? k.symbol : std::string(operators()[apply->op].name);
    found.push_back({core[k.of].span, "`" + name + "`, a kernel of the runtime"});
  }

  const loops::Program& program_;
};

}  // namespace

std::vector<loops::Refusal> refused_statements(const loops::Program& program) {
  Refusals refusals(program);
  const Core& core = *program.steps->core;
  for (const loops::Unit& unit : program.units) {
    for (const loops::Block* block : {&unit.instant, &unit.before, &unit.commit}) refusals.block(*block, core);
    for (const loops::Sweep& sweep : unit.sweeps)
      refusals.block(sweep.prologue, core), refusals.block(sweep.body, core);
  }
  return refusals.found;
}

}  // namespace rml::c99
