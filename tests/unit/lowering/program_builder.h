// Builds cores and steps by hand, to test the passes that follow.
//
// Values are added one by one; statements are appended to any block. Ports and cells get names
// where the test needs them. A Machine drives a compiled table as a host does.
#pragma once

#include <cstdlib>
#include <cstring>

#include "lowering/llvm/emit.h"
#include "runtime/base/rmlrt.h"
#include "runtime/run/program_functions.h"

namespace rml::testing {

struct ProgramBuilder {
  std::shared_ptr<Core> core = std::make_shared<Core>();
  steps::Program program;

  ProgramBuilder() {
    core->entry = "f";
    core->clocks.resize(2);
    program.straight = true;
    program.units.emplace_back();
    program.units[0].name = "unit";
    program.units[0].clock = base_clock;
  }

  steps::Block& block() { return program.units[0].instant; }
  ClockId clock_on(ValueId condition, bool positive = true, ClockId parent = base_clock) {
    core->clocks.push_back({parent, condition, positive});
    return ClockId(core->clocks.size() - 1);
  }
  ValueId value(core::Rhs rhs, DType dtype, Shape shape = {}, ClockId clock = base_clock) {
    Value v;
    v.rhs = std::move(rhs);
    v.dtype = dtype;
    v.shape = std::move(shape);
    v.clock = clock;
    v.span = {1, static_cast<std::uint32_t>(core->values.size()), static_cast<std::uint32_t>(core->values.size() + 1)};
    core->values.push_back(std::move(v));
    program.inlined.push_back(false);
    program.value_sites.push_back(UINT32_MAX);
    const ValueId added(core->values.size() - 1);
    // The steps decide which value is stored.
    core::Rhs& made = (*core)[added].rhs;
    if (auto* f = std::get_if<core::Fby>(&made); f != nullptr && !f->next.valid()) *f = {added, added};
    if (auto* m = std::get_if<core::Merge>(&made); m != nullptr && !m->condition.valid()) *m = {added, added, added};
    if (auto* w = std::get_if<core::When>(&made); w != nullptr && !w->operand.valid()) *w = {added, added, true};
    if (auto* p = std::get_if<core::Post>(&made); p != nullptr && !p->operand.valid()) *p = {added};
    return added;
  }
  ValueId constant(Tensor t) {
    const DType dtype = t.dtype();
    const Shape shape = t.shape();
    return value(core::Const{std::move(t)}, dtype, shape);
  }
  ValueId integer(std::int32_t x) { return constant(Tensor::scalar(DType::i32, x)); }
  ValueId real(float x) { return constant(Tensor::scalar(DType::f32, x)); }
  ValueId input(const std::string& name, DType dtype, Shape shape = {}, ClockId clock = base_clock) {
    const ValueId v =
        value(core::Input{static_cast<std::uint32_t>(core->inputs.size())}, dtype, std::move(shape), clock);
    core->inputs.push_back({name, v, {}});
    program.input_queues.emplace_back();
    program.input_flags.emplace_back();
    return v;
  }
  void output(const std::string& name, ValueId v) { core->outputs.push_back({name, v, {}}); }
  ValueId apply(const std::string& op, std::vector<ValueId> operands, DType dtype, Shape shape = {},
                std::vector<Attribute> attributes = {}, ClockId clock = base_clock) {
    core::Apply a;
    a.op = operators().require(op);
    a.operands = std::move(operands);
    a.attributes = std::move(attributes);
    return value(std::move(a), dtype, std::move(shape), clock);
  }
  CellId cell(Tensor initial, bool local = false) {
    program.cells.push_back({initial.dtype(), initial.shape(), initial, local, "cell", {}});
    return CellId(program.cells.size() - 1);
  }
  ArrayId array(DType dtype, Shape shape, std::uint32_t unit) {
    program.arrays.push_back({dtype, std::move(shape), unit, {}});
    return ArrayId(program.arrays.size() - 1);
  }
  QueueId queue(DType dtype, Shape shape = {}, std::uint32_t readers = 1, std::vector<std::uint32_t> skips = {}) {
    program.queues.push_back({dtype, std::move(shape), readers, std::move(skips), false, "queue"});
    return QueueId(program.queues.size() - 1);
  }
  std::uint32_t site(const std::string& message) {
    program.sites.push_back({{1, 0, 1}, message});
    return static_cast<std::uint32_t>(program.sites.size() - 1);
  }
  const steps::Program& finish() {
    program.core = core;
    return program;
  }
};

inline void add(steps::Block& block, steps::Statement s) { block.statements.push_back(std::move(s)); }
template <class... S>
void add_all(steps::Block& block, S... s) {
  (add(block, std::move(s)), ...);
}

inline steps::Branch branch(ValueId condition) {
  steps::Branch b;
  b.test = {steps::Test::value, condition, true};
  b.then_block = std::make_unique<steps::Block>();
  b.else_block = std::make_unique<steps::Block>();
  return b;
}
inline steps::Branch branch_at(steps::Test::Kind kind) {
  steps::Branch b = branch({});
  b.test = {kind, {}, true};
  return b;
}

inline Attribute integers(std::vector<std::int64_t> v) {
  Attribute a;
  a.given = true;
  a.integers = std::move(v);
  return a;
}
inline Attribute all() { return {}; }

template <class T>
Tensor tensor(DType dtype, Shape shape, std::vector<T> elements) {
  Tensor t(dtype, std::move(shape));
  std::memcpy(t.data(), elements.data(), t.bytes());
  return t;
}

inline SourceMap sources() {
  SourceMap map;
  map.add("dir/test.rml", "line one\nline two\nline three\nline four\nline five\nline six\nline seven\n");
  return map;
}

inline EmitOptions options(int level) {
  EmitOptions o;
  o.target.optimization = level;
  o.target.cpu = "native";
  o.program_name = "f";
  return o;
}

inline void* grow_with_realloc(void*, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  void* moved = nullptr;
  if (new_bytes > 0) {
    moved = std::aligned_alloc(64, (new_bytes + 63) / 64 * 64);
    std::memcpy(moved, old == nullptr ? moved : old, old == nullptr ? 0 : std::min(old_bytes, new_bytes));
  }
  std::free(old);
  return moved;
}

// The functions with which the test programs are linked: the runtime's, and the given external
// one.
inline std::vector<Linked> links(const FindFunction& external = nullptr) {
  std::vector<Linked> all = {{"", rt::find_program_function}};
  if (external) all.push_back({"", external});
  return all;
}

// A compiled program with a state.
struct Machine {
  std::unique_ptr<Jit> jit;
  const rml_program* table = nullptr;
  void* state = nullptr;
  std::string error;

  explicit Machine(const steps::Program& program, const EmitOptions& emit_options,
                   const FindFunction& external = nullptr) {
    NotEmitted refused;
    auto module = emit(program, sources(), emit_options, refused);
    error = refused.text;
    if (module == nullptr) return;
    jit = Jit::create(std::move(module), links(external), error);
    if (jit == nullptr) return;
    table = static_cast<const rml_program*>(jit->symbol("f_program", error));
    if (table == nullptr) return;
    state = std::aligned_alloc(table->state_align, (table->state_bytes + 63) / 64 * 64);
    std::memset(state, 0xa5, table->state_bytes);
    start(grow_with_realloc);
  }
  Machine(const Machine&) = delete;
  ~Machine() {
    if (state != nullptr) table->destroy(state);
    std::free(state);
  }
  rml_header& header() const { return *static_cast<rml_header*>(state); }
  void start(void* (*grow)(void*, void*, std::uint64_t, std::uint64_t)) const {
    header().seed = 0;
    header().horizon = 0;
    header().grow = grow;
    header().context = nullptr;
    table->init(state);
  }
  std::int32_t push(std::vector<const void*> in, std::vector<std::uint8_t> present = {}) const {
    if (present.empty()) present.assign(in.size() + 1, 1);
    in.push_back(nullptr);
    return table->push(state, in.data(), present.data());
  }
  // Returns the rows of one scalar output, with `absent` for absent ones.
  template <class T>
  std::vector<T> pop_all(T absent = T()) const {
    std::vector<T> rows;
    for (;;) {
      T row = absent;
      void* out[1] = {&row};
      std::uint8_t present[1] = {7};
      if (table->pop(state, out, present) == 0) return rows;
      rows.push_back(present[0] != 0 ? row : absent);
    }
  }
};

}  // namespace rml::testing
