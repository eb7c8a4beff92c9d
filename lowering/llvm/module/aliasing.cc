// Walks the blocks of a region for the positions of uses and writes; then tests each load.
#include "lowering/llvm/module/aliasing.h"

#include <algorithm>
#include <set>

#include "lowering/llvm/module/ir_types.h"
#include "lowering/steps/index_map.h"
#include "lowering/steps/loop_group.h"
#include "semantics/values/overloaded.h"

namespace rml::codegen {

namespace {
std::uint64_t place(CellId cell) { return cell.index; }
std::uint64_t place(ArrayId array) { return (std::uint64_t{1} << 32) | array.index; }
}  // namespace

void Aliasing::use(Region& region, ValueId v) const {
  const Value& value = (*program_.core)[v];
  if (inlined(v)) {
    region.first_use.try_emplace(v.index, region.position);
    region.last_use[v.index] = region.position;
    if (const auto* apply = std::get_if<core::Apply>(&value.rhs)) {
      for (const ValueId operand : apply->operands) use(region, operand);
    }
    return;
  }
  region.last_use[v.index] = region.position;
  const auto defined = region.defined.find(v.index);
  const bool from_before = defined == region.defined.end() || defined->second < region.loop_begin;
  if (region.loop_begin != SIZE_MAX && from_before) region.used_from_before_loop.push_back(v);
}

void Aliasing::compute(Region& region, ValueId v, const steps::Block& block) const {
  const Value& value = (*program_.core)[v];
  if (inlined(v)) return;
  if (const auto* apply = std::get_if<core::Apply>(&value.rhs)) {
    for (const ValueId operand : apply->operands) use(region, operand);
    const OperatorInfo& row = operators()[apply->op];
    if (is_part(*program_.core, v))
      region.same.emplace_back(apply->operands[0], v);
    else if (elements(value.shape) > target_.unrolled_elements && !windows_.contains(v))
      region.computed[v.index] = {&block, region.position, row.lowering == Lowering::elementwise || row.in_place};
  } else if (const auto* call = std::get_if<core::Call>(&value.rhs)) {
    for (const ValueId operand : call->operands) use(region, operand);
  }
  region.defined[v.index] = region.position;
  if (const auto* result = std::get_if<core::Result>(&value.rhs))
    if (const auto at = region.defined.find(result->call.index); at != region.defined.end())
      region.defined[v.index] = at->second;  // the value of a call's result was defined with the call
}

void Aliasing::walk(Region& region, const steps::Block& block) const {
  for (const steps::Statement& statement : block.statements) {
    ++region.position;
    region.statements.emplace_back(&statement, region.position);
    const auto define = [&](ValueId v) { region.defined[v.index] = region.position; };
    const auto load = [&](const void* s, ValueId v, std::uint64_t from) {
      define(v);
      region.loads.push_back({s, v, from, region.position});
    };
    const auto write = [&](std::uint64_t to) { region.writes[to].push_back(region.position); };
    std::visit(Overloaded{
                   [&](const steps::Compute& s) { compute(region, s.value, block); },
                   [&](const steps::Copy& s) {
                     use(region, s.from);
                     region.same.emplace_back(s.from, s.to);
                     define(s.to);
                   },
                   [&](const steps::LoadCell& s) { load(&s, s.value, place(s.cell)); },
                   [&](const steps::StoreCell& s) {
                     use(region, s.value), write(place(s.cell));
                     region.stores.push_back({s.value, s.cell, &block, region.position});
                   },
                   [&](const steps::MoveCell& s) { write(place(s.to)); },
                   [&](const steps::LoadArray& s) { load(&s, s.value, place(s.array)); },
                   [&](const steps::StoreArray& s) { use(region, s.value), write(place(s.array)); },
                   [&](const steps::Push& s) { use(region, s.value); },
                   [&](const steps::LoadInput& s) { define(s.value); },
                   [&](const steps::StoreOutput& s) {
                     use(region, s.value);
                     region.outputs.emplace_back(&s, &block);
                   },
                   [&](const steps::Expect&) {},
                   [&](const steps::Assert& s) { use(region, s.condition); },
                   [&](const steps::SideCell&) {},
                   [&](const steps::MarkLast& s) { use(region, s.condition); },
                   [&](const steps::SegmentProduct& s) {
                     if (s.a.held.valid()) use(region, s.a.held);
                     if (s.b.held.valid()) use(region, s.b.held);
                     write(s.rows.valid() ? place(s.rows) : place(s.sum));
                     if (s.onto.valid()) write(place(s.onto));
                   },
                   [&](const steps::Branch& s) {
                     if (s.test.kind == steps::Test::value) use(region, s.test.condition);
                     walk(region, *s.then_block);
                     walk(region, *s.else_block);
                   },
               },
               statement);
  }
}

// Finds consecutive computations that one loop may do (statements/block.cc). Inlined ones between them have no loop.
void Aliasing::find_runs(Region& region) const {
  std::optional<Shape> shape;
  std::set<ValueId> members;
  for (const auto& [statement, at] : region.statements) {
    const auto* c = std::get_if<steps::Compute>(statement);
    if (c != nullptr && inlined(c->value)) continue;
    std::optional<Shape> own = c == nullptr ? std::nullopt : loop_shape(*program_.core, c->value, target_);
    if (!own || own != shape || !joins(program_, members, c->value, target_)) {
      region.runs.emplace_back(at, at);
      members.clear();
    }
    if (c != nullptr) members.insert(c->value);
    region.runs.back().second = at;
    shape = std::move(own);
  }
}

// Computes the lifetimes of the memory in which values are computed.
void Aliasing::find_lifetimes(const Region& region) {
  lifetimes_.clear(), running_.clear();
  const auto run_end = [&](std::size_t at) {
    const auto after = std::ranges::upper_bound(region.runs, at, {}, &std::pair<std::size_t, std::size_t>::first);
    return after == region.runs.begin() ? at : std::max(at, std::prev(after)->second);
  };
  const auto end = [&](std::uint32_t v, std::size_t from) {
    const auto last = region.last_use.find(v);
    return run_end(last == region.last_use.end() ? from : std::max(from, last->second));
  };
  for (const auto& [v, from] : region.defined) lifetimes_[v] = {from, end(v, from)};
  for (const auto& [v, from] : region.first_use) lifetimes_[v] = {from, end(v, from)};
  for (const auto& [statement, at] : region.statements) running_[statement] = {at, run_end(at)};
}

void Aliasing::add(std::initializer_list<const steps::Block*> once, const steps::Block* repeated) {
  Region region;
  begin_ = region.position = end_ + 1;
  for (const steps::Block* block : once) walk(region, *block);
  if (repeated != nullptr) {
    region.loop_begin = region.position + 1;
    walk(region, *repeated);
    for (const ValueId v : region.used_from_before_loop) region.last_use[v.index] = region.position;
  }
  for (auto pair = region.same.rbegin(); pair != region.same.rend(); ++pair) {
    std::size_t& from = region.last_use[pair->first.index];
    from = std::max(from, region.last_use[pair->second.index]);
  }
  for (const Load& load : region.loads) {
    const std::size_t last = region.last_use[load.value.index];
    const std::vector<std::size_t>& writes = region.writes[load.place];
    const bool overwritten =
        std::any_of(writes.begin(), writes.end(), [&](std::size_t at) { return load.at < at && at < last; });
    if (overwritten) copies_.insert(load.statement);
  }
  for (const Store& store : region.stores) find_home(region, store);
  for (const auto& [store, block] : region.outputs) {
    const auto computed = region.computed.find(store->value.index);
    if (computed != region.computed.end() && computed->second.block == block && !home(store->value).valid())
      output_homes_.try_emplace(store->value.index, store->output);
  }
  find_runs(region);
  find_lifetimes(region);
  end_ = region.position;
}

// v is computed in the cell if it is computed in the block that stores it, no other statement writes the cell from then
// on, and the loaded old value is read for the last time while v is computed: element by element for v's elements.
void Aliasing::find_home(const Region& region, const Store& store) {
  const auto computed = region.computed.find(store.value.index);
  if (computed == region.computed.end() || !computed->second.in_place || computed->second.block != store.block ||
      homes_.contains(store.value.index))
    return;
  const std::size_t at = computed->second.at;
  const auto& writes = region.writes.at(place(store.cell));
  if (std::ranges::any_of(writes, [&](std::size_t w) { return w >= at && w != store.at; })) return;
  std::unordered_set<std::uint32_t> loaded;  // values loaded from the cell, which may share its memory
  for (const Load& load : region.loads) {
    if (load.place != place(store.cell)) continue;
    if (load.at > at) return;
    if (copies_.contains(load.statement)) continue;
    const auto last = region.last_use.find(load.value.index);
    if ((last != region.last_use.end() && last->second > at)) return;
    loaded.insert(load.value.index);
  }
  for (const auto& [from, to] : region.same)
    if (loaded.contains(from.index)) loaded.insert(to.index);
  if (reads_whole(store.value, store.value, loaded)) homes_[store.value.index] = store.cell;
}

// Follows inlined operands as long as element i of them is computed from element i of their operands.
bool Aliasing::reads_whole(ValueId v, ValueId user, const std::unordered_set<std::uint32_t>& same) const {
  const Core& core = *program_.core;
  const auto& apply = std::get<core::Apply>(core[v].rhs);
  const OperatorInfo& row = operators()[apply.op];
  const bool each = row.lowering == Lowering::elementwise && core[v].shape == core[user].shape;
  const bool over_first = row.in_place && std::ranges::count(apply.operands, apply.operands[0]) == 1;
  return std::ranges::all_of(apply.operands, [&](ValueId o) {
    if (inlined(o)) return reads_whole(o, user, same);
    const bool safe = each || (over_first && o == apply.operands[0]);
    return !same.contains(o.index) || (safe && core[o].shape == core[user].shape);
  });
}

}  // namespace rml::codegen
