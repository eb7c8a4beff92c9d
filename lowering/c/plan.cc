// Records which statements refer to each buffer, and derives the plan from that.
//
// Positions number the statements in the order of the text. A later statement runs later, except in rounds: an alias
// does not reach into rounds, unless the buffer that it names is never written.
#include "lowering/c/plan.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>

#include "semantics/values/overloaded.h"

namespace rml::c99 {

using loops::BufferId;
using loops::Space;

namespace {

bool is_scalar(const loops::Buffer& b) { return b.shape.empty(); }

}  // namespace

Plan::Plan(const loops::Program& program, const loops::Block& block, const std::vector<BufferId>& given)
    : program_(program) {
  for (const BufferId b : given) {
    Reference r;
    r.path = {{&block, -1}};
    r.writes = true;
    references_[b].push_back(r);
  }
  visit(block);
  for (const auto& [b, list] : references_) members_[b] = {b};
  std::vector<std::pair<std::size_t, BufferId>> order;
  for (const auto& [b, list] : references_)
    if (in_function(b) && std::ranges::find(given, b) == given.end()) order.emplace_back(list[0].position, b);
  std::ranges::sort(order);
  for (const auto& [position, b] : order) find_sources(b);
  for (const auto& [position, b] : std::views::reverse(order)) find_targets(b);
  find_writes();
  for (const auto& [position, b] : order) {
    if (fates_.contains(b)) continue;
    if (is_inlined(b))
      fates_[b] = {Fate::inlined, {}, false, false};
    else
      declare(b);
  }
  for (const auto& [place, branch] : branches_) find_choice(place, *branch);
}

const Fate& Plan::of(BufferId b) const {
  static const Fate nothing;
  const auto found = fates_.find(b);
  return found == fates_.end() ? nothing : found->second;
}

BufferId Plan::root(BufferId b) const {
  for (const Fate* fate = &of(b); fate->kind == Fate::alias; fate = &of(b)) b = fate->of;
  return b;
}

const std::vector<BufferId>& Plan::declared_before(Place place) const {
  static const std::vector<BufferId> nothing;
  const auto found = declared_.find(place);
  return found == declared_.end() ? nothing : found->second;
}

bool Plan::is_read(BufferId b) const {
  return std::ranges::any_of(of_root(b), [](const Reference* r) { return r->reads; });
}

bool Plan::in_function(BufferId b) const {
  const Space space = program_.buffers[b.index].space;
  return space == Space::value || space == Space::scratch;
}

// ---- references

void Plan::note(BufferId b, Reference r) {
  if (!b.valid()) return;
  r.path = path_;
  r.rounds = rounds_;
  r.position = position_;
  references_[b].push_back(std::move(r));
}

void Plan::visit(const loops::Block& block) {
  path_.push_back({&block, 0});
  for (std::size_t k = 0; k < block.statements.size(); ++k) {
    path_.back().at = static_cast<std::ptrdiff_t>(k);
    ++position_;
    visit(block.statements[k]);
  }
  path_.pop_back();
}

void Plan::visit(const loops::Nest& nest) {
  const bool alone = nest.axes.empty();
  const bool once = std::ranges::count_if(nest.body, [](const loops::Element& e) {
                      return std::holds_alternative<loops::Store>(e) || std::holds_alternative<loops::Sum>(e);
                    }) == 1;
  std::vector<BufferId> loaded;
  for (const loops::Element& element : nest.body) {
    if (const auto* load = std::get_if<loops::Load>(&element)) {
      note(load->from.buffer, {.reads = true, .alone = alone});
      loaded.push_back(load->from.buffer);
    } else if (const auto* store = std::get_if<loops::Store>(&element)) {
      note(store->to.buffer, {.writes = true, .alone = alone, .stores = alone && once});
      if (alone) read_by_[store->to.buffer] = loaded;
    } else if (const auto* sum = std::get_if<loops::Sum>(&element)) {
      note(sum->onto.buffer, {.reads = true, .writes = true});
    }
  }
}

void Plan::visit(const loops::Rounds& rounds) {
  for (const auto* slices : {&rounds.taken, &rounds.stacked})
    for (const loops::Rounds::Slice& s : *slices)
      note(s.whole, {.reads = slices == &rounds.taken, .writes = slices == &rounds.stacked});
  ++rounds_;
  path_.push_back({rounds.block.get(), -1});
  for (const loops::Rounds::Slice& s : rounds.taken) note(s.element, {.writes = true});
  path_.pop_back();
  visit(*rounds.block);
  path_.push_back({rounds.block.get(), static_cast<std::ptrdiff_t>(rounds.block->statements.size())});
  ++position_;
  for (const loops::Rounds::Slice& s : rounds.stacked) {
    note(s.element, {.reads = true});
    note(s.whole, {.reads = true, .writes = true});
  }
  path_.pop_back();
  --rounds_;
}

void Plan::visit(const loops::Statement& statement) {
  std::visit(Overloaded{
                 [&](const loops::Nest& s) { visit(s); },
                 [&](const loops::Copy& s) {
                   const bool takes = !program_.steps->straight && rounds_ == 0 &&
                                      program_.buffers[s.from.index].space == Space::input;
                   if (takes) return note(s.to, {.writes = true});
                   note(s.from, {.reads = true, .alone = true, .copied_to = s.to});
                   note(s.to, {.writes = true, .alone = true, .stores = true, .copied_from = s.from});
                   read_by_[s.to] = {s.from};
                 },
                 [&](const loops::Kernel& s) {
                   for (const BufferId b : s.operands) note(b, {.reads = true});
                   note(s.result, {.writes = true});
                 },
                 [&](const loops::ExternalCall& s) {
                   for (const BufferId b : s.operands) note(b, {.reads = true});
                   for (const BufferId b : s.results) note(b, {.writes = true});
                 },
                 [&](const loops::Rounds& s) { visit(s); },
                 [&](const loops::Branch& s) {
                   note(s.condition, {.reads = true, .alone = true});
                   branches_.emplace_back(path_.back(), &s);
                   sides_[s.then_block.get()] = {s.condition, s.positive};
                   sides_[s.else_block.get()] = {s.condition, !s.positive};
                   visit(*s.then_block);
                   visit(*s.else_block);
                 },
                 [&](const loops::Push& s) { note(s.from, {.reads = true, .alone = true}); },
                 [](const loops::Expect&) {},
                 [&](const loops::Assert& s) { note(s.condition, {.reads = true, .alone = true}); },
                 [](const loops::SideCell&) {},
                 [&](const loops::MarkLast& s) { note(s.condition, {.reads = true, .alone = true}); },
             },
             statement);
}

// ---- aliases

std::vector<const Reference*> Plan::of_root(BufferId b) const {
  std::vector<const Reference*> all;
  const auto found = members_.find(root(b));
  if (found == members_.end()) return all;
  for (const BufferId member : found->second)
    for (const Reference& r : references_.at(member)) all.push_back(&r);
  return all;
}

// True if the buffer is written at a position after `from`, up to and including `to`.
bool Plan::written_between(BufferId b, std::size_t from, std::size_t to) const {
  return std::ranges::any_of(of_root(b),
                             [&](const Reference* r) { return r->writes && r->position > from && r->position <= to; });
}

// A value becomes an alias if it is a copy of a buffer that does not change before the value's last use.
void Plan::find_sources(BufferId b) {
  const std::vector<Reference>& list = references_[b];
  if (std::ranges::count_if(list, [](const Reference& r) { return r.writes; }) != 1 || !list[0].copied_from.valid())
    return;
  const BufferId source = list[0].copied_from;
  const loops::Buffer& from = program_.buffers[source.index];
  const bool still = from.space == Space::input || from.space == Space::constant;
  if (is_scalar(program_.buffers[b.index]) && !still) return;
  if (from.dtype == DType::boolean && from.space == Space::input) return;
  std::size_t last = list[0].position;
  bool in_rounds = false;
  for (const Reference& r : list) {
    last = std::max(last, r.position);
    in_rounds = in_rounds || r.rounds != list[0].rounds;
  }
  if (!still && written_between(source, in_rounds ? 0 : list[0].position,
                                in_rounds ? std::numeric_limits<std::size_t>::max() : last))
    return;
  const BufferId to = root(source);
  fates_[b] = {Fate::alias, source, false, false};
  auto& members = members_[to];
  members.insert(members.end(), members_[b].begin(), members_[b].end());
}

// `if first { v = start } else { v = cell }  …  if first { cell = v }`: where v is copied to the cell, it is set on the
// same side of the same condition. On the other side it is a copy of the cell.
bool Plan::is_set_before(BufferId target, const Reference& copy, const Reference& write) const {
  const std::size_t n = copy.path.size();
  if (n < 2 || write.path.size() < n || write.path[n - 2].block != copy.path[n - 2].block) return false;
  const auto here = sides_.find(copy.path[n - 1].block), there = sides_.find(write.path[n - 1].block);
  if (here == sides_.end() || there == sides_.end()) return false;
  if (!here->second.condition.valid() || root(here->second.condition) != root(there->second.condition)) return false;
  const BufferId condition = root(here->second.condition);
  if (std::ranges::count_if(of_root(condition), [](const Reference* r) { return r->writes; }) != 1) return false;
  const bool same = here->second.holds == there->second.holds;
  return same || (write.copied_from.valid() && root(write.copied_from) == root(target));
}

// No other statement uses the target between the first write and the last use of the value.
bool Plan::may_lie_in(BufferId target, const Reference& copy, const std::vector<const Reference*>& all) const {
  const Place at = copy.path.back();
  std::size_t first = copy.position, last = copy.position;
  std::set<std::size_t> own = {copy.position};
  for (const Reference* r : all) {
    if (r->rounds != copy.rounds) return false;
    const bool around = std::ranges::any_of(r->path, [&](const Place& p) { return p.block == at.block; });
    if (r->writes && r->position > copy.position) return false;
    if (r->writes && !around && !is_set_before(target, copy, *r)) return false;
    if (r->copied_from.valid() && root(r->copied_from) == root(target)) own.insert(r->position);
    first = std::min(first, r->position);
    last = std::max(last, r->position);
  }
  return std::ranges::none_of(of_root(target), [&](const Reference* r) {
    return r->position >= first && r->position <= last && !own.contains(r->position);
  });
}

// Finds a place for b: a tensor that is copied to its storage may be computed there directly.
void Plan::find_targets(BufferId b) {
  if (fates_.contains(b) || is_scalar(program_.buffers[b.index])) return;
  const std::vector<const Reference*> all = of_root(b);
  for (const Reference* copy : all) {
    if (!copy->copied_to.valid() || in_function(root(copy->copied_to))) continue;
    const BufferId target = root(copy->copied_to);
    if (target == b || !may_lie_in(target, *copy, all)) continue;
    fates_[b] = {Fate::alias, target, false, false};
    auto& members = members_[target];
    members.insert(members.end(), members_[b].begin(), members_[b].end());
    return;
  }
}

// ---- scalars

void Plan::find_writes() {
  for (const auto& [b, list] : references_)
    for (const Reference& r : list)
      if (r.writes) writes_[root(b)].push_back(r.position);
  for (auto& [b, positions] : writes_) std::ranges::sort(positions);
}

// The first write after the position.
std::size_t Plan::next_write(BufferId b, std::size_t position) const {
  const auto found = writes_.find(root(b));
  if (found == writes_.end()) return std::numeric_limits<std::size_t>::max();
  const auto next = std::ranges::upper_bound(found->second, position);
  return next == found->second.end() ? std::numeric_limits<std::size_t>::max() : *next;
}

// An inlined expression moves to its use, so the buffers that it reads must not change until then. Expressions inlined
// into it are used here, so the buffers that they read have not changed so far.
bool Plan::is_inlined(BufferId b) {
  const std::vector<Reference>& list = references_[b];
  const loops::Buffer& buffer = program_.buffers[b.index];
  if (members_.at(b).size() > 1) return false;  // not inlined, because the aliases of b need the name of a variable
  if (!is_scalar(buffer) || list.size() != 2 || !list[0].stores || list[1].writes || !list[1].alone) return false;
  if (list[0].path.back().block != list[1].path.back().block) return false;
  const Core& core = buffer.body == UINT32_MAX ? *program_.steps->core : *program_.bodies[buffer.body]->core;
  const bool named = buffer.value.valid() && !core[buffer.value].name.empty();
  const bool handed_out = list[1].copied_to.valid() && program_.buffers[list[1].copied_to.index].space == Space::output;
  if (named && !handed_out) return false;
  std::size_t until = std::numeric_limits<std::size_t>::max();
  if (const auto direct = read_by_.find(b); direct != read_by_.end())
    for (const BufferId x : direct->second) {
      const auto inlined = stands_until_.find(x);
      until = std::min(until, inlined != stands_until_.end() ? inlined->second : next_write(x, list[0].position));
    }
  if (until < list[1].position) return false;
  stands_until_[b] = until;
  return true;
}

// ---- variables

void Plan::declare(BufferId b) {
  const std::vector<const Reference*> list = of_root(b);
  const loops::Buffer& buffer = program_.buffers[b.index];
  std::size_t common = list[0]->path.size();
  for (const Reference* r : list) {
    common = std::min(common, r->path.size());
    std::size_t k = 0;
    bool together = true;
    while (together && k < common && r->path[k].block == list[0]->path[k].block) {
      together = r->path[k].at == list[0]->path[k].at;
      ++k;
    }
    common = std::max<std::size_t>(k, 1);
  }
  Place first = list[0]->path[common - 1];
  for (const Reference* r : list) first.at = std::min(first.at, r->path[common - 1].at);
  Fate fate;
  const Reference& definition = *list[0];
  fate.at_definition = is_scalar(buffer) && definition.stores && definition.path.size() == common;
  fate.constant = std::ranges::count_if(list, [](const Reference* r) { return r->writes; }) == 1;
  fate.conditional = definition.path.size() > common;
  fates_[b] = fate;
  locals_.push_back(b);
  if (!is_scalar(buffer)) tensors_.push_back(b);
  if (!fate.at_definition) declared_[first].push_back(b);
}

// ---- choices

namespace {

bool can_stop(const loops::Nest& nest) {
  return std::ranges::any_of(nest.body,
                             [](const loops::Element& e) { return std::holds_alternative<loops::Check>(e); });
}

// The scalar that the statement defines by an expression and nothing else.
BufferId defined_by(const loops::Statement& s) {
  if (const auto* copy = std::get_if<loops::Copy>(&s)) return copy->to;
  const auto* nest = std::get_if<loops::Nest>(&s);
  if (nest == nullptr || !nest->axes.empty() || can_stop(*nest)) return {};
  BufferId found;
  for (const loops::Element& e : nest->body) {
    const auto* store = std::get_if<loops::Store>(&e);
    if (std::holds_alternative<loops::Sum>(e) || (store != nullptr && found.valid())) return {};
    if (store != nullptr) found = store->to.buffer;
  }
  return found;
}

}  // namespace

bool Plan::is_silent(const loops::Statement& s) const {
  const BufferId b = defined_by(s);
  return b.valid() && of(b).kind != Fate::local;
}

// The scalar that the block defines, if it does nothing else.
BufferId Plan::chosen_by(const loops::Block& block) const {
  if (block.statements.empty()) return {};
  for (std::size_t k = 0; k + 1 < block.statements.size(); ++k)
    if (!is_silent(block.statements[k])) return {};
  return defined_by(block.statements.back());
}

void Plan::find_choice(Place place, const loops::Branch& branch) {
  const BufferId b = chosen_by(*branch.then_block);
  if (!b.valid() || b != chosen_by(*branch.else_block) || !in_function(b)) return;
  const auto found = fates_.find(b);
  if (found == fates_.end() || found->second.kind != Fate::local || !is_scalar(program_.buffers[b.index])) return;
  if (std::ranges::count_if(references_[b], [](const Reference& r) { return r.writes; }) != 2) return;
  std::vector<BufferId>& here = declared_[place];
  if (std::ranges::find(here, b) == here.end()) return;
  std::erase(here, b);
  found->second.at_definition = found->second.constant = true;
  choices_[&branch] = b;
}

BufferId Plan::choice(const loops::Branch& branch) const {
  const auto found = choices_.find(&branch);
  return found == choices_.end() ? BufferId{} : found->second;
}

}  // namespace rml::c99
