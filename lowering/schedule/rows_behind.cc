// The lags of the schedule's columns against what the rows of the core ask for, cycle by cycle.
#include "lowering/schedule/rows_behind.h"

#include <algorithm>
#include <set>

#include "semantics/crossing/explore.h"
#include "semantics/crossing/look_ahead.h"

namespace rml {

namespace {

using Node = Crossings::Node;
using Edge = CrossingAutomaton::Edge;

// By unit, how many cycles it is behind the inputs at least, in every run; by column then.
class Lags {
 public:
  explicit Lags(const Schedule& s) : s_(s), by_unit_(s.units.size()) {
    for (std::size_t u = 0; u < s.units.size(); ++u) {
      const ScheduledUnit& unit = s.units[u];
      std::uint32_t lag = 0;
      for (std::size_t k = 0; k < unit.operands.size(); ++k) {
        const ValueId v = unit.operands[k];
        if (unit.needed[k].empty() && (*s.core)[v].clock == base_clock)
          lag = std::max(lag, of(v) - (unit.is_belated(v) ? 1 : 0));
      }
      by_unit_[u] = lag;
    }
  }

  std::uint32_t of_column(ValueId v) const { return (*s_.core)[v].clock == base_clock ? of(v) : 0; }

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
    std::uint32_t longest = 0;
    std::vector<std::uint32_t> by_column;
    for (const Port& o : s_.core->outputs) by_column.push_back(lags.of_column(o.value));
    for (const std::uint32_t lag : by_column) longest = std::max(longest, lag);
    if (longest == 0) return std::nullopt;
    Conditions conditions(core_);
    Crossings crossings;
    LookAhead look_ahead(core_, conditions, crossings);
    std::vector<Node> columns;
    for (const Port& o : core_.outputs)
      columns.push_back(core_[o.value].clock == never_clock ? Crossings::none : look_ahead.of_column(o.value));
    conditions.close();
    for (const CrossingPart& part : parts_of(crossings, conditions, columns))
      if (auto found = judge(part, conditions, by_column)) return found;
    return std::nullopt;
  }

 private:
  // States in which a run can be after so many cycles or more.
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
