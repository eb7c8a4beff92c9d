// Compares each count of queues and units with the number of instants of its unit. Streams on
// slower clocks are only compared with each other.
#include "runtime/checkpoint/check_counts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace rml::rt {
namespace {

constexpr std::int64_t past_all_elements = std::int64_t{1} << 62;

std::string in_instants(std::int64_t instants, const std::string& of) {
  return std::to_string(instants) + ", one for each " + of;
}

class CheckingCounts {
 public:
  CheckingCounts(const rml_program& program, const CountsOfState& counts)
      : program_(program), flow_(*program.flow), counts_(counts) {}

  std::string check() {
    for (std::uint32_t u = 0; u < flow_.n_units && wrong_.empty(); ++u) check_unit(u);
    for (std::uint32_t q = 0; q < flow_.n_queues && wrong_.empty(); ++q) check_put(q);
    for (std::uint32_t u = 0; u <= flow_.n_units && wrong_.empty(); ++u) check_takes(u);
    if (wrong_.empty()) check_clocks();
    if (wrong_.empty()) check_segments();
    for (std::uint32_t u = 0; u <= flow_.n_units && wrong_.empty(); ++u) check_settled(u);
    return wrong_;
  }

 private:
  // Elements seen of a stream on a slower clock than that of its unit, within so many instants of
  // the unit.
  struct Seen {
    std::int64_t instants, elements;
    std::string where;
  };

  const rml_memory& queue(std::uint32_t q) const { return program_.memories[flow_.first_queue + q]; }
  const std::vector<std::int64_t>& counts_of_queue(std::uint32_t q) const {
    return counts_.saved[flow_.first_queue + q];
  }
  const std::vector<std::int64_t>& counts_of_unit(std::uint32_t u) const { return counts_.saved[flow_.first_unit + u]; }
  bool is_pop(std::uint32_t u) const { return u == flow_.n_units; }
  std::int64_t instants(std::uint32_t u) const { return is_pop(u) ? counts_.run.rows : counts_of_unit(u)[0]; }
  bool is_segmented(std::uint32_t u) const { return !is_pop(u) && counts_of_unit(u).size() > 1; }
  // Number of instants whose segment has ended.
  std::int64_t ended(std::uint32_t u) const { return instants(u) - (is_segmented(u) ? counts_of_unit(u)[1] : 0); }
  std::string name_of(std::uint32_t u) const {
    return is_pop(u) ? "row" : std::string("instant of '") + program_.memories[flow_.first_unit + u].name + "'";
  }
  const rml_take& take(std::uint32_t u, std::uint32_t k) const { return flow_.takes[flow_.units[u].first_take + k]; }

  void differs(const std::string& where, std::int64_t is, const std::string& should) {
    wrong_ = where + " counts " + std::to_string(is) + ", not " + should;
  }

  void check_unit(std::uint32_t u) {
    const std::vector<std::int64_t>& has = counts_of_unit(u);
    const std::string name = std::string("'") + program_.memories[flow_.first_unit + u].name + "'";
    const std::int64_t cycles = counts_.run.cycles;
    if (has[0] > cycles) return differs(name, has[0], std::to_string(cycles) + " at most, the cycles");
    if (has.size() == 1) return;
    if (has[1] > has[0])
      return differs("the segment of " + name, has[1], std::to_string(has[0]) + " at most, its instants");
    const bool base = flow_.units[u].clock == RML_CLOCK_BASE;
    if (base && has[1] > 0 && has[2] != has[0] - has[1])
      return differs("the start of the segment of " + name, has[2], std::to_string(has[0] - has[1]));
    if (has[2] > 0 && has[2] >= cycles)
      return differs("the start of the segment of " + name, has[2], std::to_string(cycles - 1) + " at most");
  }

  // Checks the number of elements of a stream against the instants of a unit, given both clocks.
  void compare(const std::string& where, std::uint32_t clock, std::int64_t elements, std::uint32_t unit_clock,
               std::int64_t instants, const std::string& instant) {
    if (clock == RML_CLOCK_NEVER) instants = 0;
    if (clock == unit_clock || clock == RML_CLOCK_NEVER) {
      if (elements != instants) differs(where, elements, in_instants(instants, instant));
    } else if (elements < 0 || elements > instants) {
      differs(where, elements, std::to_string(instants) + " at most, the number of each " + instant);
    } else if (clock != RML_CLOCK_UNKNOWN) {
      seen_[{unit_clock, clock}].push_back({instants, elements, where});
    }
  }

  void check_put(std::uint32_t q) {
    const rml_put& put = flow_.puts[q];
    const std::string where = std::string("what was put into '") + queue(q).name + "'";
    const std::int64_t elements = counts_of_queue(q)[0] - put.begins;
    if (queue(q).count == 0 || put.writer == RML_BY_NOBODY) {
      if (elements != 0) differs(where, counts_of_queue(q)[0], std::to_string(put.begins));
    } else if (put.writer == RML_BY_HOST) {
      compare(where, put.clock, elements, RML_CLOCK_BASE, counts_.run.cycles, "cycle");
    } else {
      const std::int64_t instants = put.after_segment != 0 ? ended(put.writer) : this->instants(put.writer);
      compare(where, put.clock, elements, flow_.units[put.writer].clock, instants, name_of(put.writer));
    }
  }

  std::int64_t cursor(const rml_take& t) const { return counts_of_queue(t.queue)[t.reader + 1]; }
  std::int64_t taken(const rml_take& t) const {
    return cursor(t) - counts_.fresh[flow_.first_queue + t.queue][t.reader + 1];
  }
  std::int64_t waiting(const rml_take& t) const { return counts_of_queue(t.queue)[0] - cursor(t); }
  std::string where(const rml_take& t) const {
    return std::string("the number of elements that reader ") + std::to_string(t.reader + 1) + " has taken from '" +
           queue(t.queue).name + "'";
  }

  void check_takes(std::uint32_t u) {
    const rml_unit& unit = flow_.units[u];
    for (std::uint32_t k = 0; k < unit.n_takes && wrong_.empty(); ++k) {
      const rml_take& t = take(u, k);
      if (t.kind == RML_TAKE_FIRST) {
        if (instants(u) > 0 ? cursor(t) != past_all_elements : taken(t) != 0)
          differs(where(t), cursor(t), instants(u) > 0 ? "2^62: the first element has been taken" : "0");
        continue;
      }
      compare(where(t), t.clock, taken(t), unit.clock, instants(u), name_of(u));
      if (t.kind == RML_TAKE_FLAGGED && wrong_.empty()) check_flags(take(u, k - 1), t);
    }
  }

  // Exactly as many elements wait as there are true flags that wait.
  void check_flags(const rml_take& flags, const rml_take& t) {
    std::int64_t held = 0;
    for (std::int64_t n = 0; n < waiting(flags); ++n) held += element(flags, n) ? 1 : 0;
    if (waiting(t) == held) return;
    differs("what waits in '" + std::string(queue(t.queue).name) + "'", waiting(t),
            std::to_string(held) + ", as '" + queue(flags.queue).name + "' tells");
  }

  // For a queue of Booleans: the element `n` places after the next one that the reader takes. It
  // must be present.
  bool element(const rml_take& t, std::int64_t n) const {
    const std::string_view all = counts_.elements[flow_.first_queue + t.queue];
    return all[all.size() - static_cast<std::size_t>(waiting(t) - n)] != 0;
  }

  // Fewer instants cannot have seen more elements, and each further instant adds at most one
  // element.
  void check_clocks() {
    for (auto& [clocks, all] : seen_) {
      std::ranges::sort(all, {}, [](const Seen& s) { return std::pair(s.instants, s.elements); });
      for (std::size_t k = 1; k < all.size(); ++k) {
        const Seen &a = all[k - 1], &b = all[k];
        const std::int64_t later = b.instants - a.instants, more = b.elements - a.elements;
        if (more >= 0 && more <= later) continue;
        return differs(b.where, b.elements,
                       std::to_string(a.elements) + (later > 0 ? " to " + std::to_string(a.elements + later) : "") +
                           ", as " + a.where + " does");
      }
    }
  }

  // Checks statistics: upper limits only, since networks of earlier versions may have saved
  // smaller numbers.
  void check_segments() {
    std::int64_t longest = 0, most = 0;
    for (std::uint32_t u = 0; u < flow_.n_units; ++u) {
      if (!is_segmented(u)) continue;
      longest = std::max(longest, ended(u));
      most += std::min(ended(u), past_all_elements - most);
    }
    const CyclesOfState& run = counts_.run;
    if (run.segments > most) return differs("'segments'", run.segments, std::to_string(most) + " at most");
    if (run.longest_segment > longest)
      return differs("'longest_segment'", run.longest_segment, std::to_string(longest) + " at most");
  }

  // Decides whether the conditions hold at instants of u. Returns none if the queues do not contain
  // enough.
  std::optional<bool> holds(std::uint32_t u, const std::uint32_t* conditions, std::uint32_t count) const {
    for (std::uint32_t k = 0; k < count; ++k) {
      if (conditions[k] == UINT32_MAX) return std::nullopt;
      const rml_take& t = take(u, conditions[k] / 2);
      if (t.kind != RML_TAKE_EACH || waiting(t) <= 0 || queue(t.queue).dtype != RML_BOOL) return std::nullopt;
      if (element(t, 0) != (conditions[k] % 2 != 0)) return false;
    }
    return true;
  }

  bool is_ready(std::uint32_t u) const {
    const rml_unit& unit = flow_.units[u];
    if (unit.clock == RML_CLOCK_NEVER || !may_begin(u)) return false;
    bool paced = is_pop(u) ? false : unit.clock != RML_CLOCK_BASE;
    for (std::uint32_t k = 0; k < unit.n_takes; ++k) {
      const rml_take& t = take(u, k);
      if (t.kind == RML_TAKE_FLAGGED) continue;
      const std::uint32_t* conditions = flow_.conditions + t.first_condition;
      const auto looked_at = holds(u, conditions, t.n_when + t.n_needed);
      if (!looked_at) return false;
      const bool over = t.kind == RML_TAKE_FIRST && cursor(t) == past_all_elements;
      if (*looked_at && !over && waiting(t) <= 0) return false;
      paced = paced || (!is_pop(u) && t.n_when == 0 && t.kind == RML_TAKE_EACH && flow_.puts[t.queue].begins == 0);
    }
    return paced || instants(u) < counts_.run.cycles;
  }

  bool may_begin(std::uint32_t u) const {
    if (program_.network == nullptr || is_pop(u)) return true;
    const rml_task& task = program_.network->tasks[u];
    return std::all_of(task.after, task.after + task.n_after, [&](std::uint32_t other) { return instants(other) > 0; });
  }

  void check_settled(std::uint32_t u) {
    if (!is_ready(u) || (is_pop(u) && counts_.run.rows_wait)) return;
    const std::string name =
        is_pop(u) ? "'rows'" : std::string("'") + program_.memories[flow_.first_unit + u].name + "'";
    differs(name, instants(u), std::to_string(instants(u) + 1) + " or more: all values that it waits for are present");
  }

  const rml_program& program_;
  const rml_flow& flow_;
  const CountsOfState& counts_;
  // elements seen, by the clock of the unit and of the stream
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Seen>> seen_;
  std::string wrong_;
};

}  // namespace

std::string contradiction(const rml_program& program, const CountsOfState& counts) {
  const CyclesOfState& run = counts.run;
  if (program.flow != nullptr) return CheckingCounts(program, counts).check();
  if (run.rows != run.cycles)
    return "'rows' counts " + std::to_string(run.rows) + ", not " + in_instants(run.cycles, "cycle");
  return "";
}

}  // namespace rml::rt
