// The table of origins: names of memories that do not depend on units, and the units that compute them.
#include "lowering/llvm/program/origins.h"

#include <algorithm>
#include <map>

#include "lowering/demand/on_demand.h"
#include "lowering/steps/mentions.h"
#include "semantics/time/memories.h"
#include "semantics/time/places.h"

namespace rml::codegen {

namespace {

// Finds the unit that uses each cell.
std::vector<std::uint32_t> units_of_cells(const steps::Program& program) {
  std::vector<std::uint32_t> units(program.cells.size(), UINT32_MAX);
  for (std::uint32_t u = 0; u < program.units.size() && !program.straight; ++u)
    each_block(program.units[u], [&](const steps::Block& block) {
      each_statement(block, [&](const steps::Statement& s) {
        each_cell(s, [&](CellId cell, CellUse) {
          if (units[cell.index] == UINT32_MAX) units[cell.index] = u;
        });
      });
    });
  return units;
}

bool pushes(const steps::Block& block, QueueId queue) {
  for (const steps::Statement& s : block.statements) {
    if (const auto* b = std::get_if<steps::Branch>(&s))
      if (pushes(*b->then_block, queue) || pushes(*b->else_block, queue)) return true;
    if (const auto* p = std::get_if<steps::Push>(&s); p != nullptr && p->queue == queue) return true;
  }
  return false;
}

std::uint32_t writer_of(const steps::Program& program, QueueId queue) {
  for (std::uint32_t u = 0; u < program.units.size(); ++u) {
    bool writes = false;
    each_block(program.units[u], [&](const steps::Block& block) { writes = writes || pushes(block, queue); });
    if (writes) return u;
  }
  return UINT32_MAX;
}

struct Origin {
  ValueId fby;
  std::size_t memory;
  std::uint32_t unit;
};

std::vector<Origin> origins_on_demand(const steps::OnDemand& demand) {
  std::vector<Origin> all;
  for (std::size_t k = 0; k < demand.origins.size(); ++k)  // the origins are the first rows of the table of memories
    if (demand.origins[k].looks_back) all.push_back({demand.origins[k].value, k, UINT32_MAX});
  return all;
}

std::vector<Origin> origins_of_schedule(const steps::Program& program, const std::vector<std::uint32_t>& row_of_cell,
                                        std::uint32_t first_queue) {
  std::vector<Origin> all;
  const std::vector<std::uint32_t> units = units_of_cells(program);
  for (std::size_t k = 0; k < program.cells.size(); ++k)
    if (const steps::CellInfo& cell = program.cells[k]; !cell.local && cell.fby.valid())
      all.push_back({cell.fby, row_of_cell[k], units[k]});
  for (std::size_t q = 0; q < program.queues.size(); ++q)
    if (const steps::QueueInfo& queue = program.queues[q]; queue.first.valid() && queue.readers > 0)
      all.push_back({queue.fby, first_queue + q, writer_of(program, QueueId{q})});
  std::ranges::stable_sort(all, {}, [](const Origin& o) { return o.fby.index; });
  return all;
}

// The path, followed by a place and a number that identify the memory if paths have changed.
std::string instance_of(const Core& core, const Places& places, const std::string& content, ValueId v) {
  const bool moves = !is_kept(core, std::get<core::Fby>(core[v].rhs).next, v);
  const InstanceId i = core[v].instance;
  const std::string path = i.valid() ? core.instances[i.index].path : "", place = i.valid() ? places.of(i) : "";
  return path + "|" + place + "|" + places.within(v) + "|" + content + (moves ? "" : "!");
}

}  // namespace

std::vector<llvm::Constant*> origin_rows(Emission& module, const std::vector<std::uint32_t>& row_of_cell,
                                         std::uint32_t first_queue) {
  const steps::Program& program = module.program;
  const Core& core = module.core;
  const std::map<ValueId, std::string> names = memory_names(core);
  const Places places(core, module.sources);
  std::vector<ValueId> memories;
  for (const auto& [v, name] : names) memories.push_back(v);
  const auto named = contents(core, memories, InputNames::count), typed = contents(core, memories, InputNames::do_not);
  const auto content = [&](ValueId v) {
    return named.contains(v) ? std::to_string(named.at(v)) + ":" + std::to_string(typed.at(v)) : "0:0";
  };
  std::vector<llvm::Constant*> rows;
  for (const Origin& o : program.on_demand != nullptr ? origins_on_demand(*program.on_demand)
                                                      : origins_of_schedule(program, row_of_cell, first_queue)) {
    const auto name = names.find(o.fby);
    const ValueId next = std::get<core::Fby>(core[o.fby].rhs).next;
    if (name == names.end() && !core.is_const(next)) continue;
    llvm::Constant* then = llvm::ConstantPointerNull::get(module.pointer());
    if (name == names.end()) then = module.tensor(std::get<core::Const>(core[next].rhs).value);
    rows.push_back(llvm::ConstantStruct::get(
        module.abi.origin,
        {module.text(name == names.end() ? "" : name->second),
         module.text(instance_of(core, places, content(o.fby), o.fby)), llvm::ConstantInt::get(module.i32(), o.memory),
         llvm::ConstantInt::get(module.i32(), o.unit), then}));
  }
  return rows;
}

}  // namespace rml::codegen
