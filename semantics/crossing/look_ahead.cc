// Values that look ahead first get a place and then their expression, because operands may follow
// their users.
#include "semantics/crossing/look_ahead.h"

#include <algorithm>

#include "semantics/core/components.h"
#include "semantics/core/queries.h"

namespace rml {

using Node = Crossings::Node;

namespace {

// Calls f on the values that v may need within its instant.
template <class F>
void for_each_need(const Core& core, ValueId v, F&& f) {
  const Value& value = core[v];
  if (core.is_const(v)) return;
  if (value.clock.valid() && core[value.clock].condition.valid()) f(core[value.clock].condition);
  if (const auto* fby = std::get_if<core::Fby>(&value.rhs))
    f(fby->init);
  else if (!std::holds_alternative<core::Post>(value.rhs))
    for_each_operand(value.rhs, f);
}

}  // namespace

LookAhead::LookAhead(const Core& core, Conditions& conditions, Crossings& crossings)
    : core_(core), conditions_(conditions), crossings_(crossings), nodes_(core.values.size(), Crossings::none) {
  find_looking();
  // Reserves a place for each value that an earlier value refers to.
  std::vector<ValueId> pending;
  std::vector<bool> placed(core.values.size());
  const auto defined = [&](ValueId v) {
    bool before = true;
    for_each_need(core_, v, [&](ValueId o) { before = before && (o.index < v.index || !looks_[o.index]); });
    const auto* f = std::get_if<core::Fby>(&core_[v].rhs);
    return before && f == nullptr && !std::holds_alternative<core::Post>(core_[v].rhs);
  };
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!looks_[i]) continue;
    if (!defined(ValueId{i})) {
      nodes_[i] = crossings_.later();
      placed[i] = true;
    }
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (looks_[i] && !placed[i]) nodes_[i] = define(ValueId{i});
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (placed[i]) crossings_.define(nodes_[i], define(ValueId{i}));
}

void LookAhead::find_looking() {
  const std::size_t count = core_.values.size();
  looks_.assign(count, false);
  std::vector<std::uint32_t> first(count + 1), users;
  const auto for_each_link = [&](auto&& f) {
    for (std::uint32_t i = 0; i < count; ++i) {
      for_each_need(core_, ValueId{i}, [&](ValueId o) { f(o.index, i); });
      if (const auto* fby = std::get_if<core::Fby>(&core_.values[i].rhs)) f(fby->next.index, i);
    }
  };
  for_each_link([&](std::uint32_t o, std::uint32_t) { ++first[o + 1]; });
  for (std::size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  users.resize(first.back());
  std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
  for_each_link([&](std::uint32_t o, std::uint32_t user) { users[at[o]++] = user; });

  std::vector<std::uint32_t> work;
  bool ordered = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (std::holds_alternative<core::Post>(core_.values[i].rhs)) work.push_back(i);
    for_each_need(core_, ValueId{i}, [&](ValueId o) { ordered = ordered && o.index < i; });
  }
  if (!ordered) {
    std::uint32_t found = 0;
    const auto component = strong_components(
        count, [&](std::uint32_t v, auto&& f) { for_each_need(core_, ValueId{v}, [&](ValueId o) { f(o.index); }); },
        found);
    std::vector<std::uint32_t> size(found);
    for (const std::uint32_t c : component) ++size[c];
    for (std::uint32_t i = 0; i < count; ++i) {
      bool itself = size[component[i]] > 1;
      for_each_need(core_, ValueId{i}, [&](ValueId o) { itself = itself || o.index == i; });
      if (itself) work.push_back(i);
    }
  }
  while (!work.empty()) {
    const std::uint32_t v = work.back();
    work.pop_back();
    if (looks_[v] || core_.is_const(ValueId{v})) continue;
    looks_[v] = true;
    work.insert(work.end(), users.begin() + first[v], users.begin() + first[v + 1]);
  }
}

Node LookAhead::define(ValueId v) {
  const core::Rhs& rhs = core_[v].rhs;
  std::vector<Node> parts{of_clock(core_[v].clock)};
  if (const auto* m = std::get_if<core::Merge>(&rhs)) {
    parts.push_back(of(m->condition));
    parts.push_back(crossings_.choice(conditions_.holds(m->condition), of(m->on_true), of(m->on_false)));
  } else if (const auto* f = std::get_if<core::Fby>(&rhs)) {
    parts.push_back(fby(v, *f));
  } else if (const auto* p = std::get_if<core::Post>(&rhs)) {
    parts.push_back(post(v, p->operand));
  } else {
    for_each_operand(rhs, [&](ValueId o) { parts.push_back(of(o)); });
  }
  return crossings_.all(std::move(parts));
}

// The conditions of the clock: outer ones always, inner ones where the outer ones hold.
Node LookAhead::of_clock(ClockId clock) {
  if (!clock.valid() || !core_[clock].condition.valid()) return Crossings::none;
  const auto [known, is_new] = clocks_.try_emplace(clock.index, Crossings::none);
  if (!is_new) return known->second;
  const ClockId parent = core_[clock].parent;
  const Node outer = of_clock(parent);
  const Node inner = crossings_.choice(conditions_.ticks(parent), of(core_[clock].condition), Crossings::none);
  return clocks_[clock.index] = crossings_.all({outer, inner});
}

Node LookAhead::of_column(ValueId v) {
  if (core_.is_const(v)) return Crossings::none;
  const ClockId clock = core_[v].clock;
  return crossings_.all({of_clock(clock), crossings_.choice(conditions_.ticks(clock), of(v), Crossings::none)});
}

Node LookAhead::post(ValueId v, ValueId operand) {
  if (core_.is_const(operand)) return Crossings::none;
  const ClockId clock = core_[v].clock;
  const auto [known, is_new] = asked_.try_emplace(std::uint64_t{clock.index} << 32 | operand.index, Crossings::none);
  if (!is_new) {
    posts_.at(crossings_[known->second].index).push_back(v);
    return known->second;
  }
  const PortId p = crossings_.port();
  posts_[p].push_back(v);
  const Node beyond = asked_[std::uint64_t{clock.index} << 32 | operand.index] = crossings_.beyond(p);
  const Node there = crossings_.choice(conditions_.ticks(clock), of(operand), beyond);
  crossings_.ask(p, clock == base_clock ? of(operand) : crossings_.all({of_clock(clock), there}));
  return beyond;
}

Node LookAhead::fby(ValueId v, const core::Fby& f) {
  const ClockId clock = core_[v].clock;
  const Node init = core_.is_const(f.init) ? Crossings::none : of(f.init);
  const Node begins =
      crossings_.choice(init == Crossings::none ? Conditions::no : conditions_.begins(clock), init, Crossings::none);
  if (core_.is_const(f.next) || at_once(f.next)) {
    if (clock == base_clock || of_clock(clock) == Crossings::none) return begins;
  }
  const Crossings::Memory m = crossings_.memory();
  const Node before = crossings_.recall(m);
  const Node next = core_.is_const(f.next) ? Crossings::none : of(f.next);
  crossings_.remember(
      m, clock == base_clock
             ? next
             : crossings_.all({of_clock(clock), crossings_.choice(conditions_.ticks(clock), next, before)}));
  return crossings_.all({begins, before});
}

}  // namespace rml
