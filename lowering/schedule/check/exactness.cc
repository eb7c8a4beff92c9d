// Compares the equations of the schedule with those of the program (exactness.h). The two systems share conditions and
// states; a row is one set of the ports of both. Rows are followed together with those before them, because they leave
// in order. A broken assumption is a port of its own, and so is a post that waits for an instant of its clock.
#include "lowering/schedule/check/exactness.h"

#include <algorithm>
#include <map>

#include "lowering/schedule/check/rows_behind.h"
#include "lowering/schedule/check/waits.h"
#include "semantics/core/queries.h"
#include "semantics/crossing/explore.h"

namespace rml {

namespace {

using Node = Crossings::Node;
using Edge = CrossingAutomaton::Edge;

constexpr std::uint8_t raised = 2;    // the group of ports of broken assumptions
constexpr std::uint8_t awaiting = 3;  // the group of ports of posts that wait for their clock

std::string signed_name(const Core& core, const Literal& l) {
  return (l.positive ? "`" : "not `") + describe(core, l.condition) + "`";
}

std::string told_as_withheld(const std::string& column) {
  return "a row of `" + column + "` may be known earlier than the schedule writes it";
}

// The check of one part of the equations.
class PartExactness {
 public:
  PartExactness(const Core& core, const Crossings& crossings, CrossingAutomaton& automaton)
      : core_(core), automaton_(automaton), sets_(automaton.sets()) {
    looks_ = sets_.unite(sets_.one(itself_at_once), sets_.one(itself_in_time));
    for (PortId p = first_port; p < crossings.ports(); ++p) {
      PortSet& of = crossings.group(p) == Waits::group ? waits_ : crossings.group(p) == raised ? raised_ : looks_;
      of = sets_.unite(of, sets_.one(p));
    }
    reached_by_.assign(automaton.states(), none);
    for (std::uint32_t e = 0; e < automaton.edges().size(); ++e) {
      const Edge& edge = automaton.edges()[e];
      if (edge.to != 0 && reached_by_[edge.to] == none && edge.from < edge.to) reached_by_[edge.to] = e;
    }
  }

  // An edge on which the alarm is raised. With `knots`, edges are skipped after which no row is ever known: the next
  // row needs itself, and all rows before are written.
  std::optional<std::uint32_t> alarm(std::size_t number, bool knots) {
    for (std::uint32_t e = 0; e < automaton_.edges().size(); ++e) {
      const Edge& edge = automaton_.edges()[e];
      if (!sets_.intersect(edge.others[number], raised_)) continue;
      if (!knots) return e;
      if (doomed_.empty()) find_doomed();
      if (!runs_[edge.from]) continue;
      if (!edge.row.empty() || !edge.asked.empty() || !doomed_[edge.to]) return e;
    }
    return std::nullopt;
  }

  // The conditions of the cycles up to a row that is determined while it still waits; an empty optional if there is
  // none.
  std::optional<std::vector<std::uint32_t>> withheld() {
    for (std::uint32_t e = 0; e < automaton_.edges().size(); ++e) {
      const Edge& edge = automaton_.edges()[e];
      if (!runs_.empty() && !runs_[edge.from]) continue;
      if (late(edge.asked)) return path(e);
      if (!stops(edge)) follow(edge.to, edge.asked, {none, e});
    }
    for (std::size_t k = 0; k < rows_.size(); ++k)
      for (const std::uint32_t e : automaton_.from(rows_[k].state)) {
        if (spent()) return std::nullopt;
        const PortSet asked = automaton_.later(automaton_.edges()[e], rows_[k].asked);
        if (late(asked)) return path(e, k);
        if (!stops(automaton_.edges()[e])) follow(automaton_.edges()[e].to, asked, {static_cast<std::uint32_t>(k), e});
      }
    return std::nullopt;
  }

  // True if the search has reached its limit without an answer.
  bool spent() const { return sets_.work() > most_work || sets_.stored() > most_words; }

  std::vector<std::uint32_t> path(std::uint32_t edge) const {
    std::vector<std::uint32_t> edges{edge};
    for (std::uint32_t s = automaton_.edges()[edge].from; s != 0; s = automaton_.edges()[edges.back()].from)
      edges.push_back(reached_by_[s]);
    std::ranges::reverse(edges);
    return edges;
  }

  std::string told(const std::vector<std::uint32_t>& edges) const {
    constexpr std::size_t most = 6;
    std::string text;
    for (std::size_t k = 0; k < edges.size() && k < most; ++k) {
      text += k == 0 ? "" : "; ";
      std::string at;
      for (const auto& [v, holds] : automaton_.edges()[edges[k]].letters)
        at += (at.empty() ? "" : ", ") + signed_name(core_, {v, holds});
      text += at.empty() ? "-" : at;
    }
    return edges.size() > most ? text + "; …" : text;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint64_t most_work = 2'000'000'000;  // work on sets, in words
  static constexpr std::size_t most_words = 16'000'000;      // stored words of sets
  struct Row {
    std::uint32_t state;
    PortSet asked;
    std::uint32_t before, edge;  // index of the row one instant earlier, and the edge that leads from there
  };

  // Finds the states that a run can reach before an assumption is broken (runs_), and those whose next row needs itself
  // (doomed_).
  void find_doomed() {
    runs_.assign(automaton_.states(), false);
    runs_[0] = true;
    std::vector<std::uint32_t> work{0};
    while (!work.empty()) {
      const std::uint32_t s = work.back();
      work.pop_back();
      for (const std::uint32_t e : automaton_.from(s)) {
        const Edge& edge = automaton_.edges()[e];
        if (stops(edge) || runs_[edge.to]) continue;
        runs_[edge.to] = true;
        work.push_back(edge.to);
      }
    }
    doomed_.assign(automaton_.states(), false);
    for (std::uint32_t s = 0; s < automaton_.states(); ++s)
      doomed_[s] = std::ranges::all_of(automaton_.from(s), [&](std::uint32_t e) {
        return sets_.contains(automaton_.edges()[e].asked, itself_in_time);
      });
  }

  // True if an assumption is broken on the edge.
  bool stops(const Edge& edge) const {
    return std::ranges::any_of(edge.others, [&](PortSet other) { return sets_.intersect(other, raised_); });
  }

  bool late(PortSet asked) const { return !sets_.intersect(asked, looks_) && sets_.intersect(asked, waits_); }

  void follow(std::uint32_t state, PortSet asked, std::pair<std::uint32_t, std::uint32_t> from) {
    if (!sets_.intersect(asked, looks_) || !known_.try_emplace({state, asked.number}, true).second) return;
    rows_.push_back({state, asked, from.first, from.second});
  }

  std::vector<std::uint32_t> path(std::uint32_t edge, std::size_t row) const {
    std::vector<std::uint32_t> after{edge};
    auto at = static_cast<std::uint32_t>(row);
    for (; rows_[at].before != none; at = rows_[at].before) after.push_back(rows_[at].edge);
    std::vector<std::uint32_t> all = path(rows_[at].edge);
    all.insert(all.end(), after.rbegin(), after.rend());
    return all;
  }

  const Core& core_;
  CrossingAutomaton& automaton_;
  PortSets& sets_;
  PortSet looks_, waits_, raised_;
  std::vector<std::uint32_t> reached_by_;
  std::vector<bool> runs_, doomed_;  // one per state (see find_doomed); empty until computed
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known_;
  std::vector<Row> rows_;
};

class Exactness {
 public:
  explicit Exactness(const Schedule& s)
      : s_(s), core_(*s.core), look_ahead_(core_, conditions_, crossings_), waits_(s, conditions_, crossings_) {}

  std::optional<Inexact> run() {
    std::vector<Node> roots;
    for (const Port& o : core_.outputs) {
      if (core_[o.value].clock == never_clock) continue;
      roots.push_back(crossings_.all({look_ahead_.of_column(o.value), waits_.of_column(o.value)}));
      columns_.push_back(&o);
    }
    for (std::uint32_t u = 0; u < s_.units.size(); ++u)
      if (s_.units[u].segmented) add_assumptions(u);
    // A broken assumption matters in any row, so all columns are checked together, as one part.
    const Node all_columns = crossings_.all(std::vector<Node>(roots));
    for (const Alarm& a : alarms_) roots.push_back(crossings_.all({a.raised, all_columns}));
    conditions_.close();
    for (const CrossingPart& part : parts_of(crossings_, conditions_, roots)) {
      auto found = judge(part, 0);
      if (found && found->kind == Inexact::unknown && alarms_.empty()) found = judge_columns(part, roots);
      if (found) return found;
    }
    return std::nullopt;
  }

 private:
  struct Alarm {
    Node raised, port;
    Inexact what;
    bool stops = false;  // the run stops there, after writing all earlier rows
  };

  Alarm& add_alarm(std::uint32_t unit, ValueId v, std::string why) {
    const PortId p = crossings_.port(raised);
    const Node port = crossings_.beyond(p);
    crossings_.ask(p, port);
    alarms_.push_back({Crossings::none, port, {Inexact::assumption, unit, v, std::move(why), ""}});
    return alarms_.back();
  }

  void add_assumptions(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    const Condition ends = waits_.ends(unit);
    const Condition goes_on = conditions_.both(conditions_.ticks(unit.clock), !ends);
    const std::string cut = signed_name(core_, unit.plan.cut);
    for (const Literal& l : unit.plan.only_at_cut) {
      const Condition broken = conditions_.both(goes_on, waits_.where_present(l));
      Alarm& a = add_alarm(u, l.condition, signed_name(core_, l) + " may hold where " + cut + " does not");
      a.raised = crossings_.choice(broken, a.port, Crossings::none);
      a.stops = true;
    }
    for (const Awaiting& a : unit.plan.awaiting) add_awaiting(u, a, ends, goes_on);
  }

  // The instant for which the post waits must come before the segment ends.
  void add_awaiting(std::uint32_t u, const Awaiting& a, Condition ends, Condition goes_on) {
    const ClockId clock = core_[a.post].clock;
    Condition asked = Conditions::no;
    for (const Guard& g : a.demands) {
      Condition all = conditions_.ticks(clock);
      for (const Literal& l : g.literals) all = conditions_.both(all, waits_.where_present(l));
      if (!g.never) asked = conditions_.either(asked, all);
    }
    const Literal last{core_[clock].condition, core_[clock].positive};
    Alarm& alarm = add_alarm(u, last.condition,
                             signed_name(core_, last) + " may not become true again before " +
                                 signed_name(core_, s_.units[u].plan.cut) + " does, although a value waits for it");
    const PortId waiting = crossings_.port(awaiting);
    const Node waits = crossings_.beyond(waiting);
    const Node ended = crossings_.choice(ends, alarm.port, waits);
    const Node there = crossings_.choice(conditions_.ticks(clock), Crossings::none, ended);
    crossings_.ask(waiting, crossings_.choice(conditions_.ticks(s_.units[u].clock), there, waits));
    const Crossings::Memory m = crossings_.memory();
    const Node begins = crossings_.choice(conditions_.both(goes_on, asked), waits, Crossings::none);
    alarm.raised = crossings_.all({crossings_.recall(m), begins});
    crossings_.remember(m, alarm.raised);
  }

  // Checks single columns. A row is withheld only if one of its columns is.
  std::optional<Inexact> judge_columns(const CrossingPart& all, const std::vector<Node>& roots) {
    for (std::size_t k = 0; k < all.roots.size(); ++k)
      if (all.roots[k] != Crossings::none)
        for (const CrossingPart& part : parts_of(crossings_, conditions_, {roots[k]}))
          if (auto found = judge(part, k)) return found;
    return std::nullopt;
  }

  static Inexact unknown(ValueId value, const std::string& because) {
    return {Inexact::unknown, Schedule::nowhere, value, because + " to decide whether a row would come late", ""};
  }

  // Checks one part: columns from `first` on, and alarms.
  std::optional<Inexact> judge(const CrossingPart& part, std::size_t first) {
    CrossingRoots roots;
    std::vector<Node> columns;
    const Port* column = nullptr;
    std::vector<std::size_t> alarms;
    for (std::size_t k = 0; k < part.roots.size(); ++k) {
      if (part.roots[k] == Crossings::none) continue;
      if (first + k >= columns_.size()) {
        roots.others.push_back(part.roots[k]);
        alarms.push_back(first + k - columns_.size());
      } else {
        columns.push_back(part.roots[k]);
        if (column == nullptr) column = columns_[first + k];
      }
    }
    Crossings crossings = part.crossings;
    roots.row = crossings.all(columns);
    auto automaton = CrossingAutomaton::explore(crossings, conditions_, roots);
    const ValueId value = column == nullptr ? ValueId() : column->value;
    if (!automaton) return unknown(value, "it has too many conditions");
    PartExactness exactness(core_, crossings, *automaton);
    for (std::size_t k = 0; k < alarms.size(); ++k) {
      const auto edge = exactness.alarm(k, alarms_[alarms[k]].stops);
      if (!edge) continue;
      Inexact found = alarms_[alarms[k]].what;
      found.where = exactness.told(exactness.path(*edge));
      return found;
    }
    if (const auto edges = exactness.withheld())
      return Inexact{Inexact::withheld, Schedule::nowhere, column->value, told_as_withheld(column->name),
                     exactness.told(*edges)};
    if (exactness.spent()) return unknown(value, "it looks ahead in too many ways");
    return std::nullopt;
  }

  const Schedule& s_;
  const Core& core_;
  Conditions conditions_{core_};
  Crossings crossings_;
  LookAhead look_ahead_;
  Waits waits_;
  std::vector<const Port*> columns_;
  std::vector<Alarm> alarms_;
};

}  // namespace

std::optional<Inexact> find_inexact(const Core& core, const Schedule& s) {
  const auto look = [](const Core& c) {
    return std::ranges::any_of(c.values, [](const Value& v) { return std::holds_alternative<core::Post>(v.rhs); });
  };
  if (!look(core)) return std::nullopt;
  if (look(*s.core))
    if (auto found = Exactness(s).run()) return found;
  const auto behind = find_column_behind(core, s);
  if (!behind) return std::nullopt;
  const Port& column = s.core->outputs[*behind];
  return Inexact{Inexact::withheld, Schedule::nowhere, column.value, told_as_withheld(column.name), ""};
}

}  // namespace rml
