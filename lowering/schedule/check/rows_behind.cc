// Compares the lags of the schedule's columns with what determines the rows of the core, cycle by cycle.
#include "lowering/schedule/check/rows_behind.h"

#include <algorithm>
#include <set>

#include "semantics/crossing/explore.h"
#include "semantics/crossing/look_ahead.h"

namespace rml {

namespace {

using Node = Crossings::Node;
using Edge = CrossingAutomaton::Edge;

// The least number of cycles by which each unit is behind the inputs in every run; then the same for each column.
class Lags {
 public:
  explicit Lags(const Schedule& s) : s_(s), by_unit_(s.units.size()) {
    for (std::size_t u = 0; u < s.units.size(); ++u) {
      const ScheduledUnit& unit = s.units[u];
      std::uint32_t lag = 0;
      for (std::size_t k = 0; k < unit.operands.size(); ++k) {
        const ValueId v = unit.operands[k];
        if (unit.needed[k].empty() && (*s.core)[v].clock == base_clock) lag = std::max(lag, of_operand(unit, v));
      }
      by_unit_[u] = lag;
    }
  }

  std::uint32_t of_column(ValueId v) const { return (*s_.core)[v].clock == base_clock ? of(v) : 0; }

  std::uint32_t of_operand(const ScheduledUnit& unit, ValueId v) const { return of(v) - (unit.is_belated(v) ? 1 : 0); }

 private:
  std::uint32_t of(ValueId v) const {
    const StreamSource source = s_.sources[v.index];
    const std::uint32_t unit = s_.unit_of[source.value.index];
    return source.skip + (unit == Schedule::nowhere ? 0 : by_unit_[unit]);
  }

  const Schedule& s_;
  std::vector<std::uint32_t> by_unit_;
};

class RowsBehind {
 public:
  RowsBehind(const Core& core, const Schedule& s) : core_(core), s_(s) {}

  std::optional<std::size_t> run() {
    const Lags lags(s_);
    std::vector<std::uint32_t> by_column;
    for (const Port& o : s_.core->outputs) by_column.push_back(lags.of_column(o.value));
    const std::vector<Sometimes> sometimes = find_sometimes(lags);
    if (sometimes.empty() && std::ranges::count(by_column, 0u) == std::ssize(by_column)) return std::nullopt;
    Conditions conditions(core_);
    Crossings crossings;
    LookAhead look_ahead(core_, conditions, crossings);
    std::vector<Node> columns;
    for (const Port& o : core_.outputs)
      columns.push_back(core_[o.value].clock == never_clock ? Crossings::none : look_ahead.of_column(o.value));
    const PortId beyond_all = crossings.port();
    const Node never = crossings.beyond(beyond_all);
    crossings.ask(beyond_all, never);
    for (const Sometimes& s : sometimes) {
      Condition where = Conditions::yes;
      for (const Literal& l : s.where) {
        const Condition holds = conditions.holds(l.condition);
        where = conditions.both(where, l.positive ? holds : !holds);
      }
      columns.push_back(crossings.choice(where, look_ahead.of_column(s.operand), never));
      by_column.push_back(s.lag);
    }
    conditions.close();
    for (const CrossingPart& part : parts_of(crossings, conditions, columns))
      if (const auto found = judge(part, conditions, by_column))
        return *found < core_.outputs.size() ? *found : sometimes[*found - core_.outputs.size()].column;
    return std::nullopt;
  }

 private:
  // An operand that a unit waits for at some instants only, and a column that depends on it there.
  struct Sometimes {
    ValueId operand;
    std::vector<Literal> where;
    std::uint32_t lag;
    std::size_t column;
  };

  std::vector<Sometimes> find_sometimes(const Lags& lags) const {
    std::vector<Sometimes> all;
    for (std::uint32_t u = 0; u < s_.units.size(); ++u) {
      const ScheduledUnit& unit = s_.units[u];
      const auto column =
          std::ranges::find_if(s_.core->outputs, [&](const Port& o) { return s_.unit_of[o.value.index] == u; });
      for (std::size_t k = 0; k < unit.operands.size() && column != s_.core->outputs.end(); ++k) {
        const ValueId v = unit.operands[k];
        if (unit.needed[k].empty() || (*s_.core)[v].clock != base_clock || !is_known(v)) continue;
        if (!std::ranges::all_of(unit.needed[k], [&](const Literal& l) { return is_known(l.condition); })) continue;
        if (const std::uint32_t lag = lags.of_operand(unit, v); lag > 0)
          all.push_back({v, unit.needed[k], lag, static_cast<std::size_t>(column - s_.core->outputs.begin())});
      }
    }
    return all;
  }

  // Retiming adds values, but the others keep their numbers and meaning.
  bool is_known(ValueId v) const {
    if (v.index >= core_.values.size()) return false;
    const Value &a = core_[v], &b = (*s_.core)[v];
    return a.rhs.index() == b.rhs.index() && a.span.begin == b.span.begin && a.span.end == b.span.end &&
           a.instance == b.instance && a.clock == base_clock && b.clock == base_clock;
  }

  // The states in which a run can be after that many cycles or more.
  static std::vector<bool> reached_after(const CrossingAutomaton& automaton, std::uint32_t cycles) {
    std::vector<bool> reached(automaton.states()), now(automaton.states());
    now[0] = true;
    for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
      std::vector<bool> next(automaton.states());
      for (const Edge& e : automaton.edges())
        if (now[e.from]) next[e.to] = true;
      now = std::move(next);
    }
    std::vector<std::uint32_t> work;
    const auto add = [&](std::uint32_t state) {
      if (!reached[state]) work.push_back(state);
      reached[state] = true;
    };
    for (std::uint32_t state = 0; state < now.size(); ++state)
      if (now[state]) add(state);
    while (!work.empty()) {
      const std::uint32_t state = work.back();
      work.pop_back();
      for (const std::uint32_t e : automaton.from(state)) add(automaton.edges()[e].to);
    }
    return reached;
  }

  std::optional<std::size_t> judge(const CrossingPart& part, const Conditions& conditions,
                                   const std::vector<std::uint32_t>& by_column) const {
    std::uint32_t lag = 0;
    std::size_t column = 0;
    for (std::size_t k = 0; k < part.roots.size(); ++k)
      if (part.roots[k] != Crossings::none && by_column[k] > lag) lag = by_column[k], column = k;
    CrossingRoots roots;
    Crossings equations = part.crossings;
    roots.row = equations.all(std::vector<Node>(part.roots));
    auto automaton = lag == 0 ? std::nullopt : CrossingAutomaton::explore(equations, conditions, roots);
    if (!automaton) return std::nullopt;
    const auto rows = [&](const Edge& e, PortSet asked) { return std::pair(e.to, asked.number); };
    std::set<std::pair<std::uint32_t, std::uint32_t>> now;
    bool early = false;
    const std::vector<bool> later_on = reached_after(*automaton, lag);
    for (const Edge& e : automaton->edges()) {
      if (!later_on[e.from]) continue;
      early |= e.asked.empty();
      now.insert(rows(e, e.asked));
    }
    for (std::uint32_t age = 1; age < lag && !early; ++age) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> next;
      for (const auto& [state, asked] : now)
        for (const std::uint32_t e : automaton->from(state)) {
          const PortSet later = automaton->later(automaton->edges()[e], PortSet{asked});
          early |= later.empty();
          next.insert(rows(automaton->edges()[e], later));
        }
      now = std::move(next);
    }
    if (!early) return std::nullopt;
    return column;
  }

  const Core& core_;
  const Schedule& s_;
};

}  // namespace

std::optional<std::size_t> find_column_behind(const Core& core, const Schedule& s) { return RowsBehind(core, s).run(); }

}  // namespace rml
