// Lowers statement by statement; write_values.h writes the computation of each value.
//
//   %1 := input; cell 0 := %2      a value stays in the caller's buffer; copies between buffers
//   %5 := call 0 (%3, %4)          the rounds of an iteration: its body's statements, over buffers of their own
//
// A value that one round passes to the next is in a buffer, which is set at the end of the round:
//
//   before: state := operand   each round: element := sequence[i]; …; out := …; stacked[i] := out; state := next
#include "lowering/loops/make_loops.h"

#include <set>
#include <stdexcept>

#include "lowering/loops/write_values.h"
#include "lowering/steps/mentions.h"
#include "semantics/values/overloaded.h"

namespace rml::loops {

namespace {

class BlockWriter {
 public:
  BlockWriter(Scope& scope, std::vector<Refusal>& refused) : scope_(scope), core_(scope.core), refused_(refused) {}

  Block block(const steps::Block& from) {
    Block to;
    for (const steps::Statement& s : from.statements) std::visit([&](const auto& x) { write(x, to); }, s);
    return to;
  }

  // Copies the initial value of the cell to the buffer.
  void initial(CellId c, BufferId buffer, Block& to) {
    const Tensor& given = scope_.steps().cells[c.index].initial;
    const DType dtype = scope_[buffer].dtype;
    if (given.bytes() == 0)
      write_filling(scope_, {}, buffer, Tensor(dtype, {}), to);
    else
      to.statements.emplace_back(Copy{buffer, scope_.initial(c)});
  }

 private:
  void refuse(ValueId v, std::string what) { refused_.push_back({core_[v].span, std::move(what)}); }
  BufferId memory(ValueId v, Block& to) { return in_memory(scope_, v, to); }

  void write(const steps::Compute& s, Block& to) {
    const ValueId v = s.value;
    if (scope_.in_loops(v)) return;
    std::visit(Overloaded{[&](const core::Apply&) { write_value(scope_, v, to); },
                          // A constant already has a buffer.
                          [&](const core::Call& c) { call(v, c, to); }, [](const core::Const&) {},
                          // The call to which a result belongs writes it.
                          [](const core::Result&) {}, [&](const core::Input&) { not_computed(v); },
                          [&](const core::When&) { not_computed(v); }, [&](const core::Merge&) { not_computed(v); },
                          [&](const core::Fby&) { not_computed(v); }, [&](const core::Post&) { not_computed(v); }},
               core_[v].rhs);
  }
  [[noreturn]] static void not_computed(ValueId v) {
    throw std::logic_error("loops: %" + std::to_string(v.index) + " is not computed but loaded");
  }

  void write(const steps::Copy& s, Block& to) { copy(scope_.place(s.to), memory(s.from, to), to); }
  void write(const steps::LoadCell& s, Block& to) { copy(scope_.place(s.value), scope_.cell(s.cell), to); }
  void write(const steps::StoreCell& s, Block& to) { copy(scope_.cell(s.cell), memory(s.value, to), to); }
  void write(const steps::MoveCell& s, Block& to) { copy(scope_.cell(s.to), scope_.cell(s.from), to); }
  void write(const steps::LoadArray& s, Block& to) { copy(scope_.place(s.value), scope_.array(s.array), to); }
  void write(const steps::StoreArray& s, Block& to) { copy(scope_.array(s.array), memory(s.value, to), to); }
  void write(const steps::Push& s, Block& to) { to.statements.emplace_back(Push{s.queue, memory(s.value, to)}); }
  void write(const steps::LoadInput& s, Block& to) {
    const std::uint32_t index = std::get<core::Input>(core_[s.value].rhs).index;
    if (scope_.steps().straight)
      scope_.put(s.value, scope_.input(index));
    else
      copy(scope_.place(s.value), scope_.input(index), to);
  }
  void write(const steps::StoreOutput& s, Block& to) { copy(scope_.output(s.output), memory(s.value, to), to); }
  void write(const steps::Expect& s, Block& to) { to.statements.emplace_back(s); }
  void write(const steps::Assert& s, Block& to) { to.statements.emplace_back(Assert{memory(s.condition, to), s.site}); }
  void write(const steps::SideCell& s, Block& to) { to.statements.emplace_back(s); }
  void write(const steps::MarkLast& s, Block& to) {
    to.statements.emplace_back(MarkLast{memory(s.condition, to), s.positive});
  }
  void write(const steps::SegmentProduct& s, Block&) { refuse(s.value, "products over all instants of a segment"); }
  void write(const steps::Branch& s, Block& to) {
    Branch b{s.test.kind, {}, s.test.positive, nullptr, nullptr};
    if (s.test.kind == steps::Test::value) b.condition = memory(s.test.condition, to);
    b.then_block = std::make_unique<Block>(block(*s.then_block));
    b.else_block = std::make_unique<Block>(block(*s.else_block));
    to.statements.emplace_back(std::move(b));
  }

  static void copy(BufferId onto, BufferId from, Block& to) {
    if (onto != from) to.statements.emplace_back(Copy{onto, from});
  }

  void call(ValueId v, const core::Call& c, Block& to) {
    const ExternalNode& node = core_.externals[c.external];
    if (node.iteration != nullptr) return iterate(v, c, to);
    if (node.calling != Calling::plain) return refuse(v, "`" + node.symbol + "`, which communicates between ranks");
    ExternalCall result{c.external, v, {}, {}};
    for (const ValueId x : c.operands) result.operands.push_back(memory(x, to));
    const std::vector<ValueId> used = scope_.results(v, node.outputs.size());
    for (std::size_t k = 0; k < used.size(); ++k)
      result.results.push_back(used[k].valid() ? scope_.place(used[k])
                                               : scope_.scratch(node.outputs[k].first, node.outputs[k].second));
    to.statements.emplace_back(std::move(result));
  }

  void iterate(ValueId v, const core::Call& c, Block& to) {
    const Iteration& it = *core_.externals[c.external].iteration;
    Program& out = scope_.out();
    Rounds rounds{v, static_cast<std::uint32_t>(out.bodies.size()), it.length, it.reverse, {}, {}, nullptr};
    out.bodies.push_back(scope_.steps().bodies[c.external]);
    Scope inner(out, out.bodies.back(), rounds.body);
    const Core& body = inner.core;
    const auto port = [&](const Port& p) { return inner.scratch(body[p.value].dtype, body[p.value].shape); };
    std::vector<BufferId> states;
    const std::set<std::uint32_t> looked_at = inputs_of(inner.steps().units[0].instant, body);
    for (std::size_t k = 0; k < c.operands.size(); ++k) {
      const BufferId given = memory(c.operands[k], to);
      const bool is_state = k < it.states, is_sequence = !is_state && k < it.states + it.sequences;
      const BufferId place = is_state || is_sequence ? port(body.inputs[k]) : given;
      if (is_state) copy(place, given, to), states.push_back(place);
      if (is_sequence && looked_at.contains(static_cast<std::uint32_t>(k))) rounds.taken.push_back({given, place});
      inner.put_input(static_cast<std::uint32_t>(k), place);
    }
    const std::vector<ValueId> used = scope_.results(v, body.outputs.size());
    std::vector<BufferId> next;
    for (std::size_t k = 0; k < body.outputs.size(); ++k) {
      const BufferId place = port(body.outputs[k]);
      if (k < it.states)
        next.push_back(place);
      else if (used[k].valid())
        rounds.stacked.push_back({scope_.place(used[k]), place});
      inner.put_output(static_cast<std::uint32_t>(k), place);
    }
    BlockWriter writer(inner, refused_);
    writer.keep(to);
    rounds.block = std::make_unique<Block>(writer.block(inner.steps().units[0].instant));
    for (std::size_t k = 0; k < states.size(); ++k) copy(states[k], next[k], *rounds.block);
    to.statements.emplace_back(std::move(rounds));
    for (std::size_t k = 0; k < states.size(); ++k)
      if (used[k].valid()) copy(scope_.place(used[k]), states[k], to);
  }

  static std::set<std::uint32_t> inputs_of(const steps::Block& block, const Core& core) {
    std::set<std::uint32_t> all;
    each_statement(block, [&](const steps::Statement& s) {
      if (const auto* load = std::get_if<steps::LoadInput>(&s))
        all.insert(std::get<core::Input>(core[load->value].rhs).index);
    });
    return all;
  }

  // Initialises the cells of a body. It has no memory, but its cells may hold constants.
  void keep(Block& to) {
    for (std::size_t k = 0; k < scope_.steps().cells.size(); ++k) {
      const steps::CellInfo& cell = scope_.steps().cells[k];
      const BufferId place = scope_.scratch(cell.dtype, cell.shape);
      scope_.put_cell(CellId(k), place);
      initial(CellId(k), place, to);
    }
  }

  Scope& scope_;
  const Core& core_;
  std::vector<Refusal>& refused_;
};

// Local cells that a sweep reads or sets.
std::set<CellId> local_cells(const steps::Program& p, const steps::Sweep& sweep) {
  std::set<CellId> all;
  const auto note = [&](CellId c) {
    if (p.cells[c.index].local) all.insert(c);
  };
  for (const steps::Block* block : {&sweep.prologue, &sweep.body})
    each_statement(*block, [&](const steps::Statement& s) {
      if (const auto* load = std::get_if<steps::LoadCell>(&s)) note(load->cell);
      if (const auto* store = std::get_if<steps::StoreCell>(&s)) note(store->cell);
      if (const auto* move = std::get_if<steps::MoveCell>(&s)) note(move->to), note(move->from);
      if (const auto* side = std::get_if<steps::SideCell>(&s)) note(side->cell);
    });
  return all;
}

Unit make_unit(Scope& scope, const steps::Unit& from, std::vector<Refusal>& refused) {
  BlockWriter writer(scope, refused);
  Unit unit;
  for (const steps::Operand& o : from.operands) unit.operands.push_back(scope.place(o.value));
  unit.before = writer.block(from.before);
  unit.instant = writer.block(from.instant);
  for (const steps::Sweep& sweep : from.sweeps) {
    Sweep& to = unit.sweeps.emplace_back();
    to.backward = sweep.backward;
    for (const CellId c : local_cells(scope.steps(), sweep)) writer.initial(c, scope.cell(c), to.prologue);
    Block prologue = writer.block(sweep.prologue);
    for (Statement& s : prologue.statements) to.prologue.statements.push_back(std::move(s));
    to.body = writer.block(sweep.body);
  }
  unit.commit = writer.block(from.commit);
  return unit;
}

Span first_span(const Core& core) { return core.outputs.empty() ? Span() : core.outputs[0].span; }

}  // namespace

Made make_loops(std::shared_ptr<const steps::Program> steps) {
  Made made;
  made.program.steps = steps;
  if (steps->on_demand != nullptr)
    made.refused.push_back({first_span(*steps->core), "programs that run on demand"});
  else if (steps->network)
    made.refused.push_back({first_span(*steps->core), "networks of tasks"});
  if (!made.refused.empty()) return made;
  Scope scope(made.program, steps, UINT32_MAX);
  for (const steps::Unit& unit : steps->units) made.program.units.push_back(make_unit(scope, unit, made.refused));
  for (const steps::Operand& o : steps->emitter.operands) made.program.rows.push_back(scope.place(o.value));
  return made;
}

}  // namespace rml::loops
