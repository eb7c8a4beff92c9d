// Groups the posts that are always open together as in automaton minimisation: at first all posts
// are one class; a class is split while its posts become open by different functions.
#include "semantics/time/need_functions.h"

#include <algorithm>
#include <set>

#include "semantics/core/queries.h"
#include "semantics/time/offsets.h"

namespace rml {

using Function = BooleanFunctions::Function;
using ConditionCell = Conditions::Cell;

namespace {

constexpr std::size_t max_classes = 64;

bool is_post(const Core& core, ValueId v) { return std::holds_alternative<core::Post>(core[v].rhs); }

}  // namespace

NeedFunctions::NeedFunctions(const DependenceGraph& graph, const Components& components,
                             const std::vector<Literal>& literals)
    : graph_(graph), core_(graph.core()), components_(components), conditions_(core_) {
  find_late();
  ask_conditions(literals);
  conditions_.close();
  for (std::uint32_t i = 0; i < core_.values.size(); ++i)
    if (is_start(core_, ValueId{i}))
      starts_[conditions_.leader(conditions_.begins(core_.values[i].clock)).cell()] = ValueId{i};
  known_ = find_needs();
  if (known_) find_reachable();
}

void NeedFunctions::find_late() {
  std::vector<ValueId> all_posts, looking;
  for (std::uint32_t i = 0; i < core_.values.size(); ++i)
    if (is_post(core_, ValueId{i})) all_posts.emplace_back(i);
  for (const Component& c : components_.list)
    if (c.cyclic && has_post(core_, c)) looking.insert(looking.end(), c.values.begin(), c.values.end());
  const Dependents dependents(graph_);
  ahead_ = dependents.of(std::move(all_posts));
  late_ = dependents.of(std::move(looking));
  for (std::uint32_t i = 0; i < core_.values.size(); ++i)
    if (late_[i] && is_post(core_, ValueId{i})) posts_.emplace_back(i);
}

// Registers all conditions before their classes are closed.
void NeedFunctions::ask_conditions(const std::vector<Literal>& literals) {
  for (std::uint32_t i = 0; i < core_.values.size(); ++i) {
    if (!late_[i]) continue;
    const Value& v = core_.values[i];
    conditions_.ticks(v.clock);
    if (const auto* m = std::get_if<core::Merge>(&v.rhs)) conditions_.holds(m->condition);
    const auto* f = std::get_if<core::Fby>(&v.rhs);
    if (f != nullptr && !core_.is_const(f->init)) conditions_.begins(v.clock);
  }
  for (std::uint32_t i = 0; i < core_.values.size(); ++i)
    if (is_start(core_, ValueId{i})) conditions_.begins(core_.values[i].clock);
  for (const Literal& l : literals) {
    conditions_.holds(l.condition);
    conditions_.ticks(core_[l.condition].clock);
  }
  for (const Component& c : components_.list) conditions_.ticks(c.clock);
}

Function NeedFunctions::function(Condition c) {
  const Condition one = conditions_.leader(c);
  const std::uint32_t cell = one.cell();
  auto known = by_cell_.find(cell);
  if (known == by_cell_.end()) {
    const ConditionCell& at = conditions_[cell];
    Function found = BooleanFunctions::no;
    if (at.kind == ConditionCell::conjunction) {
      const Function left = function(at.a);
      found = functions_.both(left, function(at.b));
    } else if (at.kind == ConditionCell::choice) {
      const Function condition = function(at.a), on_true = function(at.b);
      found = functions_.choice(condition, on_true, function(at.c));
    } else if (at.kind != ConditionCell::constant) {
      const auto [number, is_new] = cells_.try_emplace(cell, static_cast<std::uint32_t>(letters_.size()));
      if (is_new) {
        Letter& fresh = letters_.emplace_back(Letter{.condition = {cell << 1}, .value = at.value});
        if (const auto start = starts_.find(cell); !fresh.value.valid() && start != starts_.end())
          fresh.value = start->second;
        if (!fresh.value.valid()) fresh.begun = conditions_.begun(cell);
      }
      found = functions_.letter(number->second);
    }
    known = by_cell_.emplace(cell, found).first;
  }
  return one.negative() ? functions_.negation(known->second) : known->second;
}

Function NeedFunctions::open_before(ValueId post) {
  const std::uint32_t of = class_of_.at(post);
  const auto [number, is_new] = classes_.try_emplace(of, static_cast<std::uint32_t>(letters_.size()));
  if (is_new) letters_.push_back({.before = true, .next = {of}});
  return functions_.letter(number->second);
}

Function NeedFunctions::open_after(ValueId post) {
  const Function before = open_before(post);
  return functions_.choice(ticks(core_[post].clock), need_[post.index], before);
}

NeedFunctions::Letter NeedFunctions::letter(std::uint32_t number) const {
  Letter found = letters_[number];
  if (found.before) found.next = next_[found.next.node];
  return found;
}

void NeedFunctions::need(ValueId v, Function where) {
  if (!late_[v.index]) return;
  Function& known = need_[v.index];
  const Function now = functions_.either(known, where);
  if (now == known) return;
  known = now;
  changed_.push_back(v);
}

// Adds the need for the conditions of a clock: outer ones always, inner ones where the outer ones
// hold.
void NeedFunctions::need_clock(ClockId clock, Function where) {
  for (const ClockId c : ancestors(core_, clock))
    if (late_[core_[c].condition.index]) need(core_[c].condition, functions_.both(where, ticks(core_[c].parent)));
}

void NeedFunctions::add_roots() {
  for (const auto& list : {results(core_), failing(core_)})
    for (const ValueId v : list) {
      if (core_[v].clock == never_clock) continue;
      if (late_[v.index]) need(v, ticks(core_[v].clock));
      need_clock(core_[v].clock, BooleanFunctions::yes);
    }
}

void NeedFunctions::spread(ValueId v) {
  const Value& value = core_[v];
  const Function here = need_[v.index];
  if (const auto* m = std::get_if<core::Merge>(&value.rhs)) {
    const Function holds = function(conditions_.holds(m->condition));
    need(m->condition, here);
    need(m->on_true, functions_.both(here, holds));
    need(m->on_false, functions_.both(here, functions_.negation(holds)));
  } else if (const auto* f = std::get_if<core::Fby>(&value.rhs)) {
    if (!core_.is_const(f->init)) need(f->init, functions_.both(here, function(conditions_.begins(value.clock))));
    need(f->next, ticks(value.clock));
    need_clock(value.clock, BooleanFunctions::yes);
  } else if (const auto* p = std::get_if<core::Post>(&value.rhs)) {
    const Function before = open_before(v);
    need(p->operand, functions_.both(before, ticks(core_[p->operand].clock)));
    need_clock(value.clock, before);
  } else {
    for_each_operand(value.rhs, [&](ValueId o) { need(o, here); });
  }
}

bool NeedFunctions::find_needs() {
  for (const ValueId p : posts_) class_of_[p] = 0;
  for (std::size_t classes = posts_.empty() ? 0 : 1; classes <= max_classes;) {
    need_.assign(core_.values.size(), BooleanFunctions::no);
    add_roots();
    std::set<ValueId> work;  // users first, so that most of a need is known when it is passed on
    for (;;) {
      work.insert(changed_.begin(), changed_.end());
      changed_.clear();
      if (work.empty()) break;
      if (functions_.spent()) return false;
      spread(work.extract(std::prev(work.end())).value());
    }
    std::map<std::pair<std::uint32_t, Function>, std::uint32_t> parts;
    std::map<ValueId, std::uint32_t> now;
    next_.assign(classes, {});
    for (const ValueId p : posts_) {
      const std::uint32_t of = class_of_.at(p);
      const Function after = next_[of] = open_after(p);
      now[p] = parts.try_emplace({of, after}, static_cast<std::uint32_t>(parts.size())).first->second;
    }
    if (parts.size() == classes) break;
    classes = parts.size();
    class_of_ = std::move(now);
    if (classes > max_classes) return false;
  }
  class_clock_.resize(next_.size());
  for (const ValueId p : posts_) {
    ClockId& clock = class_clock_[class_of_.at(p)];
    clock = clock.valid() ? common_clock(core_, clock, core_[p].clock) : core_[p].clock;
  }
  return true;
}

// Gets the initial value and the next value of a letter. Returns false if the letter has no memory.
bool NeedFunctions::has_next(std::uint32_t number, Function& first, Function& next) {
  const Letter l = letter(number);
  first = BooleanFunctions::no;
  next = l.next;
  if (l.before) return true;
  const ConditionCell& cell = conditions_[l.condition.cell()];
  if (cell.kind != ConditionCell::memory) return false;
  first = function(cell.a);
  const Function later = function(cell.b), present = function(cell.present);
  next = functions_.choice(present, later, functions_.letter(number));
  return true;
}

// Computes all reachable states from the first one, as a function of the letters with memory. The
// next state uses letters numbered beyond all others, to distinguish it from the current state.
void NeedFunctions::find_reachable() {
  constexpr std::size_t max_remembered = 10;
  struct Remembered {
    std::uint32_t letter;
    Function next;
  };
  std::vector<Remembered> all;
  Function state = BooleanFunctions::yes;
  for (std::uint32_t l = 0; l < letters_.size(); ++l) {  // computing a next value may add letters
    Function first, next;
    if (!has_next(l, first, next)) continue;
    if (all.size() == max_remembered) return;
    all.push_back({l, next});
    state = functions_.both(state, functions_.choice(functions_.letter(l), first, functions_.negation(first)));
  }
  const std::uint32_t beyond = static_cast<std::uint32_t>(letters_.size());
  Function step = BooleanFunctions::yes;
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    const Function after = functions_.letter(beyond + k);
    step = functions_.both(step, functions_.choice(after, all[k].next, functions_.negation(all[k].next)));
  }
  const auto only_remembered = [&](Function f) {
    for (const std::uint32_t l : functions_.letters(f))
      if (std::ranges::none_of(all, [&](const Remembered& r) { return r.letter == l; }))
        f = functions_.for_either(f, l);
    return f;
  };
  state = only_remembered(state);
  for (Function before = BooleanFunctions::no; before != state && !functions_.spent();) {
    before = state;
    Function after = functions_.both(state, step);
    for (std::uint32_t l = 0; l < beyond; ++l) after = functions_.for_either(after, l);
    for (std::uint32_t k = 0; k < all.size(); ++k)
      after = functions_.with(after, beyond + k, functions_.letter(all[k].letter));
    state = functions_.either(state, after);
  }
  reachable_ = state;
}

Function NeedFunctions::open(std::uint32_t component) {
  const Component& c = components_.list[component];
  Function found = BooleanFunctions::no;
  for (const ValueId v : c.values)
    if (is_post(core_, v) && late_[v.index]) found = functions_.either(found, open_after(v));
  return within(found, c.clock);
}

Function NeedFunctions::within(Function f, ClockId clock) {
  const Function present = ticks(clock);
  for (const std::uint32_t l : functions_.letters(present)) {
    const Function letter = functions_.letter(l);
    if (functions_.both(present, letter) == present) f = functions_.with(f, l, BooleanFunctions::yes);
    if (functions_.both(present, letter) == BooleanFunctions::no) f = functions_.with(f, l, BooleanFunctions::no);
  }
  return functions_.where(f, reachable_);
}

Function NeedFunctions::holds(Literal l, ClockId clock) {
  const Function truth = function(conditions_.holds(l.condition));
  return within(functions_.both(ticks(core_[l.condition].clock), l.positive ? truth : functions_.negation(truth)),
                clock);
}

// True if v depends on the component.
bool NeedFunctions::hangs_on(ValueId v, std::uint32_t component) const {
  std::set<ValueId> met;
  std::vector<ValueId> work{v};
  while (!work.empty()) {
    const ValueId at = work.back();
    work.pop_back();
    const std::uint32_t of = components_.of[at.index];
    if (of == component) return true;
    if (of == Components::none || of < component || !met.insert(at).second) continue;
    for (const Dependence& e : graph_.of(at)) work.push_back(e.on);
  }
  return false;
}

// True if the letter, and all letters of its next value, may be used before the component.
bool NeedFunctions::may_use(std::uint32_t number, std::uint32_t component, bool ahead,
                            std::set<std::uint32_t>& met) const {
  if (!met.insert(number).second) return true;
  const Letter l = letter(number);
  if (!l.before && !l.value.valid()) return l.begun == base_clock;
  if (!l.before) return (ahead || !ahead_[l.value.index]) && !hangs_on(l.value, component);
  return rml::within(core_, class_clock_[letters_[number].next.node], components_.list[component].clock) &&
         std::ranges::all_of(functions_.letters(l.next),
                             [&](std::uint32_t o) { return may_use(o, component, ahead, met); });
}

Function NeedFunctions::without_component(Function f, std::uint32_t component, bool ahead) {
  for (const std::uint32_t l : functions_.letters(f))
    if (std::set<std::uint32_t> met; !may_use(l, component, ahead, met)) f = functions_.for_either(f, l);
  return f;
}

}  // namespace rml
