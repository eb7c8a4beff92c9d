// Follows the needs of rows forward; from needs that become empty, marks backward the ones that
// can do so.
#include "semantics/crossing/productive.h"

#include <algorithm>
#include <map>
#include <set>

#include "semantics/crossing/look_ahead.h"

namespace rml {

namespace {

constexpr std::size_t max_asked = 40'000;
constexpr std::size_t max_rows = 2'000;

class Productive {
 public:
  explicit Productive(CrossingAutomaton& automaton) : automaton_(automaton) {}

  std::optional<UnknownRow> run() {
    if (!follow()) return std::nullopt;
    find_good();
    std::set<std::uint32_t> level{0};
    std::set<std::set<std::uint32_t>> seen;
    for (std::size_t row = 0; row < max_rows && seen.insert(level).second; ++row) {
      std::set<std::uint32_t> next;
      bool known = false;
      std::uint32_t unknown = 0;
      for (const std::uint32_t state : level)
        for (const std::uint32_t e : automaton_.from(state)) {
          const CrossingAutomaton::Edge& edge = automaton_.edges()[e];
          next.insert(edge.to);
          known = known || edge.row.empty();
          if (known) continue;
          unknown = number_.at({edge.to, edge.row.number});
          known = good_[unknown];
        }
      if (!known && !next.empty()) return UnknownRow{row, asked_for(unknown)};
      level = std::move(next);
    }
    return std::nullopt;
  }

 private:
  struct Asked {
    std::uint32_t state;
    PortSet set;
  };

  std::uint32_t number(std::uint32_t state, PortSet set) {
    const auto [known, is_new] = number_.try_emplace({state, set.number}, static_cast<std::uint32_t>(asked_.size()));
    if (is_new) {
      asked_.push_back({state, set});
      before_.emplace_back();
      good_.push_back(false);
    }
    return known->second;
  }

  bool follow() {
    for (const CrossingAutomaton::Edge& edge : automaton_.edges())
      if (!edge.row.empty()) number(edge.to, edge.row);
    for (std::uint32_t k = 0; k < asked_.size(); ++k) {
      if (asked_.size() > max_asked) return false;
      for (const std::uint32_t e : automaton_.from(asked_[k].state)) {
        const CrossingAutomaton::Edge& edge = automaton_.edges()[e];
        const PortSet later = automaton_.later(edge, asked_[k].set);
        if (later.empty())
          good_[k] = true;
        else
          before_[number(edge.to, later)].push_back(k);
      }
    }
    return true;
  }

  void find_good() {
    std::vector<std::uint32_t> work;
    for (std::uint32_t k = 0; k < good_.size(); ++k)
      if (good_[k]) work.push_back(k);
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      for (const std::uint32_t k : before_[at]) {
        if (good_[k]) continue;
        good_[k] = true;
        work.push_back(k);
      }
    }
  }

  // The ports that never become known: their needs, and the needs of these, never become empty.
  std::vector<PortId> asked_for(std::uint32_t first) {
    const auto [state, set] = asked_[first];
    std::vector<PortId> found;
    std::set<PortId> met;
    for (const PortId p : automaton_.sets().members(set)) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> seen{{state, automaton_.sets().one(p).number}};
      std::vector<Asked> work{{state, automaton_.sets().one(p)}};
      std::vector<PortId> ports;
      bool comes = false;
      for (std::size_t k = 0; k < work.size() && !comes && work.size() < max_asked; ++k) {
        const auto [at, asks] = work[k];
        for (const PortId q : automaton_.sets().members(asks)) ports.push_back(q);
        for (const std::uint32_t e : automaton_.from(at)) {
          const CrossingAutomaton::Edge& edge = automaton_.edges()[e];
          const PortSet later = automaton_.later(edge, asks);
          comes = comes || later.empty();
          if (seen.insert({edge.to, later.number}).second) work.push_back({edge.to, later});
        }
      }
      if (comes) continue;
      for (const PortId q : ports)
        if (met.insert(q).second) found.push_back(q);
    }
    return found;
  }

  CrossingAutomaton& automaton_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number_;  // number of each pair of a state and a set
  std::vector<Asked> asked_;
  // Indexed by the number of a pair: its predecessors, one instant earlier.
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<bool> good_;
};

}  // namespace

std::optional<UnknownRow> find_unknown_row(CrossingAutomaton& automaton) { return Productive(automaton).run(); }

Knowable find_unknown_rows(const Core& core) {
  Conditions conditions(core);
  Crossings crossings;
  LookAhead look_ahead(core, conditions, crossings);
  std::vector<Crossings::Node> columns;
  for (const Port& o : core.outputs)
    if (core[o.value].clock != never_clock) columns.push_back(look_ahead.of_column(o.value));
  conditions.close();
  Knowable found;
  for (CrossingPart& part : parts_of(crossings, conditions, columns)) {
    CrossingRoots roots;
    roots.row = part.crossings.all(std::move(part.roots));
    auto automaton = CrossingAutomaton::explore(part.crossings, conditions, roots);
    if (!automaton) {
      found.all = false;
      continue;
    }
    for (const CrossingAutomaton::Edge& e : automaton->edges())
      found.knot = found.knot || automaton->sets().contains(e.asked, itself_in_time);
    const auto unknown = find_unknown_row(*automaton);
    if (!unknown || (found.unknown_row && *found.unknown_row <= unknown->row)) continue;
    found.unknown_row = unknown->row;
    found.posts.clear();
    for (const PortId p : unknown->asks)
      if (p >= first_port)
        for (const ValueId post : look_ahead.posts().at(part.ports[p])) found.posts.push_back(post);
  }
  return found;
}

bool can_hold(const Core& core, Literal l) {
  Conditions conditions(core);
  Crossings crossings;
  const Condition holds = conditions.holds(l.condition);
  if (conditions[holds.cell()].kind == Conditions::Cell::letter) return true;
  const Condition is_so = conditions.both(conditions.ticks(core[l.condition].clock), l.positive ? holds : !holds);
  CrossingRoots roots;
  roots.others = {crossings.choice(is_so, crossings.beyond(crossings.port()), Crossings::none)};
  conditions.close();
  const auto automaton = CrossingAutomaton::explore(crossings, conditions, roots);
  return !automaton || std::ranges::any_of(automaton->edges(), [](const auto& e) { return !e.others[0].empty(); });
}

}  // namespace rml
