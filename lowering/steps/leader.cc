// Answers three questions, one after the other:
//
// - Which outputs need memories only? A walk over the equations of one instant decides. - Which units have run all
// their instants between two cycles? Those whose operands all come with the cycle. - Where does the whole program keep
// a memory of the leader? Passes renumber values, so each memory has its number in
//   the whole program as its name.
#include "lowering/steps/leader.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "lowering/steps/drop_unused.h"
#include "lowering/steps/find_lead.h"
#include "lowering/steps/leading.h"
#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"
#include "semantics/values/overloaded.h"

namespace rml {

namespace {

// ---- outputs -----------------------------------------------------------------------------------

class Instant {
 public:
  explicit Instant(const Core& core) : core_(core), judged_(core.values.size(), unseen) {}

  // True if the value depends on memories only. Programs in which an instant needs itself were refused.
  bool needs_memories_only(ValueId v) {
    std::uint8_t& judged = judged_[v.index];
    if (judged != unseen) return judged == yes;
    judged = no;
    bool all = std::visit(Overloaded{
                              [](const core::Input&) { return false; },
                              [](const core::Post&) { return false; },
                              [&](const core::Call& r) { return is_repeatable(core_.externals[r.external]); },
                              [&](const core::Result& r) { return needs_memories_only(r.call); },
                              [&](const core::Fby& r) { return needs_memories_only(r.init); },
                              [](const auto&) { return true; },
                          },
                          core_[v].rhs);
    if (all && !core_.is_const(v))
      for (const ClockId c : ancestors(core_, core_[v].clock)) all = all && needs_memories_only(core_[c].condition);
    if (all && !std::holds_alternative<core::Fby>(core_[v].rhs))
      for_each_operand(core_[v].rhs, [&](ValueId o) { all = all && needs_memories_only(o); });
    judged_[v.index] = all ? yes : no;
    return all;
  }

 private:
  enum : std::uint8_t { unseen, no, yes };
  const Core& core_;
  std::vector<std::uint8_t> judged_;  // one per ValueId: result of needs_memories_only
};

// True if the output's rows are the elements of its stream, without a shift by a post.
bool comes_in_time(const steps::Program& whole, std::uint32_t output) {
  const steps::Emitter& rows = whole.emitter;
  return std::ranges::any_of(rows.outputs, [&](const auto& row) {
    if (row.first != output) return false;
    const steps::Operand& o = rows.operands[row.second];
    const std::vector<std::uint32_t>& skips = whole.queues[o.queue.index].skips;
    return !o.belated && (o.reader >= skips.size() || skips[o.reader] == 0);
  });
}

// ---- units -------------------------------------------------------------------------------------

// Which queues and cells are written by the block of an instant, and which later.
class Promptness {
 public:
  explicit Promptness(const steps::Program& p)
      : program_(p),
        writer_(p.queues.size(), none),
        late_queue_(p.queues.size()),
        stored_by_(p.cells.size(), none),
        late_cell_(p.cells.size()) {
    for (std::uint32_t u = 0; u < p.units.size(); ++u)
      each_block(p.units[u], [&](const steps::Block& b) { note(b, u, &b != &p.units[u].instant); });
    find_prompt();
  }

  bool has(CellId c) const {
    return !late_cell_[c.index] && (stored_by_[c.index] == none || prompt_[stored_by_[c.index]]);
  }
  bool has(QueueId q) const { return is_prompt(q) && !program_.queues[q.index].overtaken; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  void stores(CellId c, std::uint32_t unit, bool late) {
    const bool several = stored_by_[c.index] != none && stored_by_[c.index] != unit;
    late_cell_[c.index] = late_cell_[c.index] || late || several;
    stored_by_[c.index] = unit;
  }
  void note(const steps::Block& block, std::uint32_t unit, bool late) {
    each_statement(block, [&](const steps::Statement& s) {
      const bool at_end = late || std::holds_alternative<steps::SegmentProduct>(s);
      each_cell(s, [&](CellId cell, CellUse use) {
        if (use == CellUse::writes) stores(cell, unit, at_end);
      });
      if (const auto* push = std::get_if<steps::Push>(&s)) {
        writer_[push->queue.index] = unit;
        late_queue_[push->queue.index] = late_queue_[push->queue.index] || late;
      }
    });
  }

  bool is_prompt(QueueId q) const {
    return !late_queue_[q.index] && (writer_[q.index] == none || prompt_[writer_[q.index]]);
  }
  bool is_prompt(const steps::Operand& o) const {
    const std::vector<std::uint32_t>& skips = program_.queues[o.queue.index].skips;
    return !o.belated && is_prompt(o.queue) && (o.reader >= skips.size() || skips[o.reader] == 0);
  }

  void find_prompt() {
    for (const steps::Unit& u : program_.units) prompt_.push_back(!u.looks_back());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t u = 0; u < prompt_.size(); ++u) {
        const steps::Unit& unit = program_.units[u];
        const bool all = std::ranges::all_of(unit.operands, [&](const steps::Operand& o) { return is_prompt(o); }) &&
                         std::ranges::all_of(unit.after, [&](std::uint32_t other) { return prompt_[other]; });
        if (prompt_[u] && !all) prompt_[u] = false, moved = true;
      }
    }
  }

  const steps::Program& program_;
  std::vector<std::uint32_t> writer_;  // indexed by queue: the unit that writes it; none: the host
  std::vector<bool> late_queue_;
  std::vector<std::uint32_t> stored_by_;  // indexed by cell: the unit that stores it
  std::vector<bool> late_cell_;
  std::vector<bool> prompt_;  // one per unit: true if its operands arrive with their cycle
};

// ---- memories ----------------------------------------------------------------------------------

std::string number_name(std::size_t value) { return "#" + std::to_string(value); }

ValueId numbered(const Core& core, const std::string& name) {
  std::size_t value = core.values.size();
  if (name.starts_with('#')) std::from_chars(name.data() + 1, name.data() + name.size(), value);
  return value < core.values.size() ? ValueId{value} : ValueId();
}

// The place of this cell of the lowered program in the whole program; nothing if its value may not be up to date.
steps::Leader::Memory memory_of(const steps::Program& whole, const Promptness& prompt, const steps::Program& lowered,
                                CellId cell) {
  const ValueId own = lowered.cells[cell.index].fby;
  const ValueId fby = own.valid() ? numbered(*whole.core, (*lowered.core)[own].name) : ValueId();
  if (!fby.valid()) return {};
  for (std::size_t k = 0; k < whole.cells.size(); ++k)
    if (const steps::CellInfo& c = whole.cells[k]; !c.local && c.fby == fby)
      return {prompt.has(CellId{k}) ? CellId{k} : CellId(), {}};
  for (std::size_t k = 0; k < whole.queues.size(); ++k)
    if (const steps::QueueInfo& q = whole.queues[k]; q.first.valid() && q.readers > 0 && q.fby == fby)
      return {{}, prompt.has(QueueId{k}) ? QueueId{k} : QueueId()};
  return {};
}

// Removes from the lead the outputs that read a cell without a place in the whole program.
void keep_known(steps::Program& program, const std::vector<steps::Leader::Memory>& there) {
  const auto known = [&](std::uint32_t output) {
    steps::Program alone = leading_program(program);
    steps::Block& block = alone.units[0].instant;
    std::erase_if(block.statements, [&](const steps::Statement& s) {
      const auto* store = std::get_if<steps::StoreOutput>(&s);
      return store != nullptr && store->output != output;
    });
    keep_outputs(*program.core, block);
    bool all = true;
    each_statement(block, [&](const steps::Statement& s) {
      if (const auto* load = std::get_if<steps::LoadCell>(&s))
        all = all && (there[load->cell.index].cell.valid() || there[load->cell.index].queue.valid());
    });
    return all;
  };
  std::erase_if(program.lead.statements, [&](const steps::Statement& s) {
    const auto* store = std::get_if<steps::StoreOutput>(&s);
    return store != nullptr && !known(store->output);
  });
  keep_outputs(*program.core, program.lead);
}

}  // namespace

std::optional<LeadingCore> leading_core(const steps::Program& whole) {
  const Core& core = *whole.core;
  if (whole.straight || whole.on_demand != nullptr || core.inputs.empty()) return std::nullopt;
  const std::vector<Leading> when = leading(core);
  Instant instant(core);
  LeadingCore part;
  for (std::uint32_t k = 0; k < when.size(); ++k)
    if (when[k] == Leading::always && comes_in_time(whole, k) && instant.needs_memories_only(core.outputs[k].value))
      part.outputs.push_back(k);
  if (part.outputs.empty()) return std::nullopt;
  part.core = core;
  part.core.outputs.clear();
  for (const std::uint32_t k : part.outputs) part.core.outputs.push_back(core.outputs[k]);
  part.core.watched = 0;
  part.core.asserts.clear();
  part.core.watches.clear();
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    auto* fby = std::get_if<core::Fby>(&part.core.values[i].rhs);
    if (fby == nullptr) continue;
    part.core.values[i].name = number_name(i);
    if (!core.is_const(fby->next)) fby->next = ValueId{i};
  }
  return part;
}

std::shared_ptr<const steps::Leader> make_leader(const steps::Program& whole, const LeadingCore& part,
                                                 steps::Program lowered) {
  if (!lowered.straight || lowered.core->outputs.size() != part.outputs.size()) return nullptr;
  lowered.windows.clear();  // windows belong to cells of the whole program, so the leader has none
  lowered.packs = {};
  find_lead(lowered);
  const Promptness prompt(whole);
  auto leader = std::make_shared<steps::Leader>();
  for (std::size_t k = 0; k < lowered.cells.size(); ++k)
    leader->memories.push_back(memory_of(whole, prompt, lowered, CellId{k}));
  keep_known(lowered, leader->memories);
  if (lowered.lead.statements.empty()) return nullptr;
  leader->program = std::move(lowered);
  leader->outputs = part.outputs;
  return leader;
}

std::vector<bool> leading_outputs(const steps::Program& program) {
  std::vector<bool> leading(program.core->outputs.size());
  const steps::Leader* const leader = program.leader.get();
  each_statement(leader != nullptr ? leader->program.lead : program.lead, [&](const steps::Statement& s) {
    if (const auto* store = std::get_if<steps::StoreOutput>(&s))
      leading[leader != nullptr ? leader->outputs[store->output] : store->output] = true;
  });
  return leading;
}

std::vector<bool> late_outputs(const steps::Program& program) {
  std::vector<bool> late(program.core->outputs.size());
  if (program.on_demand != nullptr || program.core->inputs.empty()) return late;
  const std::vector<bool> leads = leading_outputs(program);
  if (std::ranges::find(leads, false) == leads.end()) return late;
  const std::vector<Leading> when = leading(*program.core);
  for (std::size_t k = 0; k < late.size(); ++k) late[k] = when[k] != Leading::never && !leads[k];
  return late;
}

}  // namespace rml
