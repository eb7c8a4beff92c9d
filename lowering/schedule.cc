// Components of the pruned and retimed core become units.
//
// Each acyclic or forward component gets a signature: the set of things its values wait for
// (segmented components, and per clock the number of posts passed). Components of one
// signature advance in step and form one unit. Signatures only grow along dependences, so
// units form an acyclic graph. Within a unit values are ordered operands first, keeping
// together what is on one clock, so that each condition is tested once.
#include "lowering/schedule.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "lowering/absorb.h"
#include "lowering/partition.h"
#include "lowering/retime.h"
#include "lowering/split_units.h"
#include "semantics/cycle_report.h"
#include "semantics/offsets.h"
#include "semantics/queries.h"

namespace rml {

namespace {

// `c fby post y` is y, but for c at the first instant: no lookahead is needed.
Core undo_delays(Core core) {
  std::map<ClockId, ValueId> starts;
  auto add = [&](core::Rhs rhs, DType dtype, Shape shape, ClockId clock, const Value& like) {
    Value v = like;
    v.rhs = std::move(rhs);
    v.dtype = dtype;
    v.shape = std::move(shape);
    v.clock = clock;
    v.name.clear();
    core.values.push_back(std::move(v));
    return ValueId{core.values.size() - 1};
  };
  const std::size_t count = core.values.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto* f = std::get_if<core::Fby>(&core.values[i].rhs);
    if (f == nullptr || !core.is_const(f->init)) continue;
    const auto* p = std::get_if<core::Post>(&core[f->next].rhs);
    if (p == nullptr) continue;
    const Value like = core.values[i];
    const ValueId init = f->init, later = p->operand;
    if (!starts.contains(like.clock)) {
      const ValueId yes = add(core::Const{Tensor::boolean(true)}, DType::boolean, {}, like.clock, like);
      const ValueId no = add(core::Const{Tensor::boolean(false)}, DType::boolean, {}, like.clock, like);
      starts[like.clock] = add(core::Fby{yes, no}, DType::boolean, {}, like.clock, like);
    }
    const ValueId start = starts[like.clock];
    core.clocks.push_back({like.clock, start, false});
    const ValueId sampled =
        add(core::When{later, start, false}, like.dtype, like.shape, ClockId{core.clocks.size() - 1}, like);
    core.values[i].rhs = core::Merge{start, init, sampled};
  }
  return core;
}

// Constant outputs and posts of constants need a stream of their own: `c fby c`; an assert
// on something that no unit computes, an equation of its own: `c and c`.
Core give_constants_streams(Core core) {
  for (Value& v : core.values)
    if (const auto* p = std::get_if<core::Post>(&v.rhs); p != nullptr && core.is_const(p->operand))
      v.rhs = core[p->operand].rhs;
  for (Port& o : core.outputs) {
    if (!core.is_const(o.value)) continue;
    Value v = core[o.value];
    if (v.clock == never_clock) continue;
    if (!v.clock.valid()) v.clock = base_clock;
    v.rhs = core::Fby{o.value, o.value};
    o.value = ValueId{core.values.size()};
    core.values.push_back(std::move(v));
  }
  for (CoreAssert& a : core.asserts) {
    const auto& rhs = core[a.condition].rhs;
    if (std::holds_alternative<core::Apply>(rhs) || std::holds_alternative<core::Merge>(rhs) ||
        std::holds_alternative<core::When>(rhs))
      continue;
    Value v = core[a.condition];
    if (!v.clock.valid()) v.clock = base_clock;
    v.rhs = core::Apply{operators().require("logical_and"), {a.condition, a.condition}, {}, 0};
    a.condition = ValueId{core.values.size()};
    core.values.push_back(std::move(v));
  }
  return core;
}

// The end of a segment as a value: what was found to end it, or a negation of its own, that no unit computes.
void add_cuts(Schedule& s) {
  std::shared_ptr<Core> core;
  for (ScheduledUnit& u : s.units) {
    if (!u.segmented) continue;
    const Literal found = u.plan.cut;
    u.cut = found.condition;
    if (found.positive) continue;
    if (core == nullptr) core = std::make_shared<Core>(*s.core);
    Value negation = (*core)[found.condition];
    negation.rhs = core::Apply{operators().require("logical_not"), {found.condition}, {}, 0};
    negation.name.clear();
    u.cut = ValueId{core->values.size()};
    core->values.push_back(std::move(negation));
    s.unit_of.push_back(Schedule::nowhere);
    s.sources.push_back({u.cut, 0});
  }
  if (core != nullptr) s.core = std::move(core);
}

class Scheduler {
 public:
  Scheduler(std::shared_ptr<const Core> core, Diagnostics& diagnostics, Grain grain)
      : core_(*core), graph_(core_), components_(find_components(graph_)), diagnostics_(diagnostics), grain_(grain) {
    out_.core = std::move(core);
  }

  std::optional<Schedule> run() {
    out_.unit_of.assign(core_.values.size(), Schedule::nowhere);
    for (std::size_t i = 0; i < core_.values.size(); ++i) out_.sources.push_back({ValueId{i}, 0});
    signature_.resize(core_.values.size());
    for (std::uint32_t c = 0; c < components_.list.size(); ++c)
      if (!place(c)) return std::nullopt;
    absorb(out_, graph_);
    split_units(out_, graph_);
    drop_empty_units();
    sort_units();
    find_streams();
    for (ScheduledUnit& u : out_.units) {
      finish(u);
      if (!u.segmented) order_values(u);
    }
    if (grain_ == Grain::op || grain_ == Grain::stage) {
      partition(out_, graph_, components_, grain_);
      drop_empty_units();
      find_streams();
      for (ScheduledUnit& u : out_.units) finish(u);
    }
    out_.straight = grain_ == Grain::none && is_straight();
    add_zeros();
    add_cuts(out_);
    return std::move(out_);
  }

 private:
  // What a value waits for: (source, lag) pairs, sorted. A source is a clock (its posts) or,
  // beyond all clocks, one of the two ends of a segmented component.
  using Signature = std::map<std::uint32_t, std::uint32_t>;

  static void join(Signature& into, const Signature& from) {
    for (const auto& [source, lag] : from) into[source] = std::max(into[source], lag);
  }

  Signature waits_for(const Component& c) const {
    Signature s;
    for (ValueId v : c.values)
      for (const Dependence& e : graph_.of(v)) join(s, signature_[e.on.index]);
    return s;
  }

  bool place(std::uint32_t index) {
    const Component& c = components_.list[index];
    const ValueId v = c.values[0];
    if (!c.cyclic && out_.is_base_input(v)) return true;
    Signature s = waits_for(c);
    if (const auto* p = std::get_if<core::Post>(&core_[v].rhs); p != nullptr && !c.cyclic) {
      out_.sources[v.index] = out_.sources[p->operand.index];
      ++out_.sources[v.index].skip;
      ++s[core_[v].clock.index];
      signature_[v.index] = std::move(s);
      return true;
    }
    if (!c.cyclic && (place_sample(v) || place_result(v))) return true;
    if (!c.cyclic || !has_post(core_, c)) return place_forward(c, s);
    return place_segmented(index, s);
  }

  // A tensor that a segmented unit computes is sampled there if an input says when: others get the samples only.
  bool place_sample(ValueId v) {
    const auto* w = std::get_if<core::When>(&core_[v].rhs);
    if (w == nullptr || core_[v].shape.empty() || !out_.is_base_input(w->condition)) return false;
    const std::uint32_t of = out_.unit_of[w->operand.index];
    if (of == Schedule::nowhere || !out_.units[of].segmented || core_[w->operand].clock != out_.units[of].clock)
      return false;
    PassPlan* last = nullptr;
    PassItem sample{v, 0};
    for (PassPlan& pass : out_.units[of].plan.passes)
      for (const PassItem& i : pass.items)
        if (i.value == w->operand) last = &pass, sample.classes |= i.classes;
    if (last == nullptr) return false;
    last->items.push_back(sample);
    out_.units[of].values.push_back(v);
    out_.unit_of[v.index] = of;
    signature_[v.index] = signature_[w->operand.index];
    return true;
  }

  // The results of a call that a segmented unit makes are computed there, whoever reads them.
  bool place_result(ValueId v) {
    const auto* r = std::get_if<core::Result>(&core_[v].rhs);
    const std::uint32_t of = r == nullptr ? Schedule::nowhere : out_.unit_of[r->call.index];
    if (of == Schedule::nowhere || !out_.units[of].segmented) return false;
    for (PassPlan& pass : out_.units[of].plan.passes) {
      const auto call = std::ranges::find(pass.items, r->call, &PassItem::value);
      if (call != pass.items.end()) pass.items.insert(call + 1, {v, call->classes});
    }
    out_.units[of].values.push_back(v);
    out_.unit_of[v.index] = of;
    signature_[v.index] = signature_[r->call.index];
    return true;
  }

  bool place_forward(const Component& c, const Signature& s) {
    const auto [at, fresh] = forward_units_.try_emplace(s, out_.units.size());
    if (fresh) out_.units.emplace_back();
    for (ValueId v : c.values) {
      out_.unit_of[v.index] = static_cast<std::uint32_t>(at->second);
      out_.units[at->second].values.push_back(v);
      signature_[v.index] = s;
    }
    return true;
  }

  bool place_segmented(std::uint32_t index, Signature s) {
    const Component& c = components_.list[index];
    SegmentResult r = plan_segments(graph_, components_, index);
    if (!r.plan) {
      const ValueId v = c.values[0];
      auto& d = diagnostics_.report(Code::E0701, core_[v].span, "no static schedule for `" + describe(core_, v) + "`");
      explain_cycle(core_, find_cycle(graph_, c.values, v, every_edge), d);
      const std::string hint = training_hint(core_, c.values);
      d.note(hint.empty() ? "the program may still be productive: `--engine reference` runs it" : hint);
      return false;
    }
    join(s, signature_[r.plan->cut.condition.index]);
    for (const auto* list : {&r.plan->sides, &r.plan->only_at_cut})
      for (const Literal& l : *list) join(s, signature_[l.condition.index]);
    const auto unit = static_cast<std::uint32_t>(out_.units.size());
    const auto ends = static_cast<std::uint32_t>(core_.clocks.size()) + 2 * unit;
    std::set<ValueId> early, late;
    for (std::size_t p = 0; p < r.plan->passes.size(); ++p)
      for (const PassItem& i : r.plan->passes[p].items) (p == 0 ? early : late).insert(i.value);
    for (ValueId v : c.values) {
      out_.unit_of[v.index] = unit;
      Signature own = s;
      own[late.contains(v) || !early.contains(v) ? ends + 1 : ends] = 1;
      signature_[v.index] = std::move(own);
    }
    ScheduledUnit u;
    u.segmented = true;
    u.clock = c.clock;
    u.values = c.values;
    u.plan = std::move(*r.plan);
    for (ValueId v : c.values)
      if (!early.contains(v) && !late.contains(v)) u.idle.emplace_back(v, ValueId());
    out_.units.push_back(std::move(u));
    return true;
  }

  void drop_empty_units() {
    std::vector<std::uint32_t> now;
    std::uint32_t kept = 0;
    for (const ScheduledUnit& u : out_.units) now.push_back(u.values.empty() ? Schedule::nowhere : kept++);
    for (std::uint32_t& u : out_.unit_of)
      if (u != Schedule::nowhere) u = now[u];
    std::erase_if(out_.units, [](const ScheduledUnit& u) { return u.values.empty(); });
  }

  void sort_units() {
    std::vector<std::vector<std::uint32_t>> needs(out_.units.size());
    for (std::size_t i = 0; i < core_.values.size(); ++i) {
      const std::uint32_t u = out_.unit_of[i];
      if (u == Schedule::nowhere) continue;
      for (const Dependence& e : graph_.of(ValueId{i})) {
        const ValueId on = out_.sources[e.on.index].value;
        const std::uint32_t w = out_.unit_of[on.index];
        if (w != Schedule::nowhere && w != u && !out_.is_delayed(on)) needs[u].push_back(w);
      }
    }
    for (std::uint32_t u = 0; u < out_.units.size(); ++u) {
      const SegmentPlan& plan = out_.units[u].plan;
      if (!out_.units[u].segmented) continue;
      std::vector<Literal> conditions = plan.sides;
      conditions.push_back(plan.cut);
      conditions.insert(conditions.end(), plan.only_at_cut.begin(), plan.only_at_cut.end());
      for (const Literal& l : conditions) {
        const std::uint32_t w = out_.unit_of[out_.sources[l.condition.index].value.index];
        if (w != Schedule::nowhere && w != u) needs[u].push_back(w);
      }
    }
    std::uint32_t found = 0;
    const auto order = strong_components(
        out_.units.size(),
        [&](std::uint32_t u, auto&& f) {
          for (std::uint32_t w : needs[u]) f(w);
        },
        found);
    std::vector<ScheduledUnit> sorted(out_.units.size());
    for (std::size_t u = 0; u < sorted.size(); ++u) sorted[order[u]] = std::move(out_.units[u]);
    out_.units = std::move(sorted);
    for (std::uint32_t& u : out_.unit_of)
      if (u != Schedule::nowhere) u = order[u];
  }

  // For readers of what idles. The last step: core_ is no more.
  void add_zeros() {
    if (std::ranges::all_of(out_.units, [](const ScheduledUnit& u) { return u.idle.empty(); })) return;
    auto core = std::make_shared<Core>(core_);
    for (ScheduledUnit& u : out_.units)
      for (auto& [v, zero] : u.idle) {
        zero = ValueId{core->values.size()};
        Value none = core_[v];
        none.rhs = core::Const{Tensor(none.dtype, none.shape)};
        none.name.clear();
        core->values.push_back(std::move(none));
        out_.unit_of.push_back(Schedule::nowhere);
        out_.sources.push_back({zero, 0});
      }
    out_.core = std::move(core);
  }

  // What goes from a unit to others, or out.
  void find_streams() {
    stream_.assign(core_.values.size(), false);
    for (std::size_t i = 0; i < core_.values.size(); ++i)
      for (const Dependence& e : graph_.of(ValueId{i})) {
        const ValueId source = out_.sources[e.on.index].value;
        if (out_.unit_of[source.index] != out_.unit_of[i]) stream_[source.index] = true;
      }
    for (const Port& o : core_.outputs) stream_[out_.sources[o.value.index].value.index] = true;
  }

  bool member(ValueId v, const ScheduledUnit& u) const {
    return out_.unit_of[v.index] != Schedule::nowhere && &out_.units[out_.unit_of[v.index]] == &u;
  }

  void finish(ScheduledUnit& u) {
    std::set<ValueId> reads;
    auto read = [&](ValueId v) {
      if (!core_.is_const(v) && !member(v, u)) reads.insert(v);
    };
    bool first = true;
    auto extend = [&](ClockId c) {
      u.clock = first ? c : common_clock(core_, u.clock, c);
      first = false;
    };
    for (ValueId v : u.values) {
      for_each_operand(core_[v].rhs, read);
      extend(core_[v].clock);
    }
    for (const auto* list : {&u.plan.sides, &u.plan.only_at_cut})
      for (const Literal& l : *list) read(l.condition);
    if (u.segmented) read(u.plan.cut.condition);
    for (ValueId v : reads) extend(core_[v].clock);
    // A unit below base must be driven by something that arrives at each of its instants; what takes an input from
    // the caller looks at every cycle whether it is there.
    const bool takes_input =
        std::ranges::any_of(u.values, [&](ValueId v) { return std::holds_alternative<core::Input>(core_[v].rhs); });
    auto driven = [&] {
      return std::ranges::any_of(reads, [&](ValueId v) { return core_[v].clock == u.clock && !out_.is_delayed(v); });
    };
    while (u.clock != base_clock && (takes_input || !driven())) {
      read(core_[u.clock].condition);
      u.clock = core_[u.clock].parent;
    }
    std::vector<ValueId> on_clocks = u.values;
    on_clocks.insert(on_clocks.end(), reads.begin(), reads.end());
    for (ValueId v : on_clocks)
      for (ClockId c = core_[v].clock; c != u.clock && core_[c].parent.valid(); c = core_[c].parent)
        read(core_[c].condition);
    const std::vector<ValueId> waited(reads.begin(), reads.end());
    for (ValueId v : waited)
      for (const Literal& l : guards(v, u)) reads.insert(l.condition);
    u.operands.assign(reads.begin(), reads.end());
    // What streams between units are sampled on says whether there is an element: it is always waited for.
    std::set<ValueId> sampling;
    for (ValueId v : on_clocks)
      for (ClockId c = stream_[v.index] ? core_[v].clock : u.clock; c != u.clock; c = core_[c].parent)
        sampling.insert(core_[c].condition);
    for (ValueId v : u.operands)
      for (ClockId c = core_[v].clock; c != u.clock; c = core_[c].parent) sampling.insert(core_[c].condition);
    const auto needed = [&](ValueId v) { return sampling.contains(v) ? std::vector<Literal>() : guards(v, u); };
    std::ranges::sort(u.operands, {},
                      [&](ValueId v) { return std::tuple(depth(core_[v].clock), needed(v).size(), v); });
    u.needed.clear();
    for (ValueId v : u.operands) u.needed.push_back(needed(v));
  }

  // The conditions under which a unit looks at an operand that may come late. Only inputs and
  // what earlier units compute may decide, and they must not have to wait themselves.
  std::vector<Literal> guards(ValueId v, const ScheduledUnit& u) const {
    std::vector<Literal> out;
    if (signature_[v.index].empty()) return out;
    const std::vector<Literal> present = graph_.presence(core_[v].clock);
    for (const Literal& l : graph_.demand(v).literals) {
      if (core_[l.condition].clock != core_[v].clock || !signature_[l.condition.index].empty()) continue;
      if (std::ranges::find(present, l) != present.end()) continue;
      const std::uint32_t unit = out_.unit_of[l.condition.index];
      const bool earlier = unit != Schedule::nowhere && unit < static_cast<std::uint32_t>(&u - out_.units.data());
      if (earlier || out_.is_base_input(l.condition)) out.push_back(l);
    }
    return out;
  }

  int depth(ClockId c) const {
    int d = 0;
    for (; core_[c].parent.valid(); c = core_[c].parent) ++d;
    return d;
  }

  // Kahn's algorithm; of the values that are ready, those on the clock just used go first, then
  // those on clocks below it, then below its parent, …: a clock is entered when nothing above
  // it is left to do, and left when nothing on it or below it is, so its condition is seldom
  // tested twice. Of complementary clocks the second follows on the first, and a merge of the
  // two is computed like a value on the second.
  void order_values(ScheduledUnit& u) {
    if (rank_.empty()) rank_clocks();
    local_.resize(core_.values.size());
    const std::size_t n = u.values.size();
    for (std::size_t i = 0; i < n; ++i) local_[u.values[i].index] = static_cast<std::uint32_t>(i);
    std::vector<std::uint32_t> missing(n);
    std::vector<std::vector<std::uint32_t>> users(n);
    for (std::uint32_t i = 0; i < n; ++i)
      for (const Dependence& e : graph_.of(u.values[i]))
        if (e.weight == 0 && member(e.on, u)) {
          ++missing[i];
          users[local_[e.on.index]].push_back(i);
        }
    std::map<std::uint32_t, std::set<std::uint32_t>> ready;  // by rank of the clock
    auto release = [&](std::uint32_t i) { ready[rank_[place_of(u.values[i]).index]].insert(i); };
    for (std::uint32_t i = 0; i < n; ++i)
      if (missing[i] == 0) release(i);
    std::vector<ValueId> order;
    ClockId now = u.clock;
    while (!ready.empty()) {
      const auto at = nearest(ready, now);
      const std::uint32_t i = *at->second.begin();
      now = place_of(u.values[i]);
      at->second.erase(at->second.begin());
      if (at->second.empty()) ready.erase(at);
      order.push_back(u.values[i]);
      for (std::uint32_t w : users[i])
        if (--missing[w] == 0) release(w);
    }
    u.values = std::move(order);
  }

  ClockId place_of(ValueId v) const {
    const auto* m = std::get_if<core::Merge>(&core_[v].rhs);
    if (m == nullptr) return core_[v].clock;
    const auto at = sampled_.find({core_[v].clock, m->condition});
    return at == sampled_.end() ? core_[v].clock : at->second;
  }

  // Of what is ready, the next below the nearest clock around `now` that has any.
  template <class Ready>
  typename Ready::iterator nearest(Ready& ready, ClockId now) const {
    const std::uint32_t from = rank_[now.index];
    for (ClockId around = now; around.valid(); around = core_[around].parent) {
      auto at = ready.lower_bound(from);
      if (at != ready.end() && at->first < rank_end_[around.index]) return at;
      at = ready.lower_bound(rank_[around.index]);
      if (at != ready.end() && at->first < rank_end_[around.index]) return at;
    }
    return ready.begin();
  }

  // Numbers the clocks so that those below one are rank_ … rank_end_ of it, and complementary
  // ones are neighbours.
  void rank_clocks() {
    const std::size_t n = core_.clocks.size();
    std::vector<std::vector<std::uint32_t>> below(n);
    std::vector<std::uint32_t> roots;
    for (std::uint32_t c = 0; c < n; ++c) {
      const ClockId parent = core_.clocks[c].parent;
      (parent.valid() ? below[parent.index] : roots).push_back(c);
    }
    rank_.resize(n);
    rank_end_.resize(n);
    std::uint32_t next = 0;
    std::vector<std::pair<std::uint32_t, bool>> stack;  // a clock, and whether what is below it is done
    auto visit = [&](std::vector<std::uint32_t>& clocks) {
      std::ranges::sort(clocks, [&](std::uint32_t a, std::uint32_t b) {
        const ValueId of_a = core_.clocks[a].condition, of_b = core_.clocks[b].condition;
        return of_a != of_b ? of_a > of_b : a < b;
      });
      for (std::uint32_t c : clocks) stack.emplace_back(c, false);
    };
    visit(roots);
    while (!stack.empty()) {
      auto [c, done] = stack.back();
      if (done) {
        rank_end_[c] = next;
        stack.pop_back();
        continue;
      }
      stack.back().second = true;
      rank_[c] = next++;
      sampled_[{core_.clocks[c].parent, core_.clocks[c].condition}] = ClockId{c};
      visit(below[c]);
    }
  }

  bool is_straight() const {
    if (out_.units.size() > 1) return false;
    for (const ScheduledUnit& u : out_.units) {
      if (u.segmented || u.clock != base_clock) return false;
      if (!std::ranges::all_of(u.operands, [&](ValueId v) { return out_.is_base_input(v); })) return false;
    }
    return std::ranges::all_of(core_.outputs, [&](const Port& o) { return out_.sources[o.value.index].skip == 0; });
  }

  const Core& core_;
  DependenceGraph graph_;
  Components components_;
  Diagnostics& diagnostics_;
  const Grain grain_;
  Schedule out_;
  std::vector<Signature> signature_;                        // by ValueId
  std::vector<bool> stream_;                                // by ValueId
  std::vector<std::uint32_t> rank_, rank_end_;              // by ClockId
  std::map<std::pair<ClockId, ValueId>, ClockId> sampled_;  // a clock and a condition: the last ranked of the two
  std::vector<std::uint32_t> local_;                        // by ValueId: place in the unit being ordered
  std::map<Signature, std::size_t> forward_units_;
};

// Values that need each other within an instant under conditions that exclude each other
// have no single order.
bool orderable(const DependenceGraph& graph, const Components& components, Diagnostics& diagnostics) {
  const Core& core = graph.core();
  for (const Component& c : components.list) {
    if (!c.cyclic || has_post(core, c)) continue;
    auto index = [&](ValueId v) {
      const auto at = std::lower_bound(c.values.begin(), c.values.end(), v);
      return at != c.values.end() && *at == v ? static_cast<std::uint32_t>(at - c.values.begin()) : UINT32_MAX;
    };
    std::uint32_t found = 0;
    const auto comp = strong_components(
        c.values.size(),
        [&](std::uint32_t i, auto&& f) {
          for (const Dependence& e : graph.of(c.values[i]))
            if (const std::uint32_t j = index(e.on); e.weight == 0 && j != UINT32_MAX) f(j);
        },
        found);
    const auto needs_itself = [&](ValueId v) {
      return std::ranges::any_of(graph.of(v), [&](const Dependence& e) { return e.weight == 0 && e.on == v; });
    };
    std::vector<std::uint32_t> size(found);
    for (std::size_t i = 0; i < c.values.size(); ++i)
      if (++size[comp[i]] == 2 || needs_itself(c.values[i])) {
        const ValueId v = c.values[i];
        auto& d = diagnostics.report(Code::E0701, core[v].span,
                                     "`" + describe(core, v) +
                                         "` and other values need each other within a cycle, "
                                         "under conditions that exclude each other");
        explain_cycle(core, find_cycle(graph, c.values, v, within_the_cycle), d);
        d.note("there is no one order to compute them in; `--engine reference` runs the program");
        return false;
      }
  }
  return true;
}

}  // namespace

Literal computed_cut(const Schedule& s, const ScheduledUnit& unit) {
  const auto* negation = std::get_if<core::Apply>(&(*s.core)[unit.cut].rhs);
  if (negation == nullptr || s.unit_of[unit.cut.index] != Schedule::nowhere) return {unit.cut, true};
  return {negation->operands[0], false};
}

std::optional<Schedule> schedule(const Core& input, Diagnostics& diagnostics, Grain grain) {
  Core core = give_constants_streams(undo_delays(prune_undemanded(input)));
  {
    const DependenceGraph graph(core);
    if (!orderable(graph, find_components(graph), diagnostics)) return std::nullopt;
  }
  core = prune_undemanded(retime(std::move(core)));
  return Scheduler(std::make_shared<const Core>(std::move(core)), diagnostics, grain).run();
}

}  // namespace rml
