// The equations alone decide whether a change is an error. A value is certain if every run needs
// it at each instant of its unit's clock: a row, an assertion, the next value of a parameter, a
// value that can fail, or an operand that a certain value always reads. A schedule in which a
// certain value is missing, computed twice, or late is wrong in every run. Two adjacent values
// that do not depend on each other may be exchanged.
#include "mutate_schedule.h"

#include <algorithm>
#include <set>

#include "lowering/schedule/passes.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

// Operands of the same instant that are needed in every case.
std::vector<ValueId> always_needed(const Core& core, ValueId v) {
  std::vector<ValueId> found;
  const core::Rhs& rhs = core[v].rhs;
  if (const auto* m = std::get_if<core::Merge>(&rhs))
    found = {m->condition};
  else if (!std::holds_alternative<core::Fby>(rhs) && !std::holds_alternative<core::Post>(rhs))
    for_each_operand(rhs, [&](ValueId o) { found.push_back(o); });
  std::erase_if(found, [&](ValueId o) { return core.is_const(o); });
  return found;
}

bool mentions(const Core& core, ValueId user, ValueId v) {
  bool found = core[user].clock.valid() && core[core[user].clock].condition == v;
  for_each_operand(core[user].rhs, [&](ValueId o) { found = found || o == v; });
  return found;
}

class Mutation {
 public:
  explicit Mutation(const Schedule& s) : s_(s), core_(*s.core), certain_(core_.values.size()) { find_certain(); }

  std::vector<Mutant> all() {
    streams();
    flags();
    for (std::uint32_t u = 0; u < s_.units.size(); ++u) {
      operands(u);
      clocks(u);
      units(u);
      if (s_.units[u].segmented) {
        segments(u);
        belated(u);
      } else {
        forward(u);
      }
    }
    return std::move(out_);
  }

 private:
  template <class F>
  void add(const std::string& kind, ValueId at, const F& change, bool right = false) {
    Mutant m{kind, at.valid() ? "%" + std::to_string(at.index) : "", s_, right};
    change(m.schedule);
    out_.push_back(std::move(m));
  }
  bool member(ValueId v, std::uint32_t u) const { return s_.unit_of[v.index] == u; }
  bool certain(ValueId v, std::uint32_t u) const {
    return member(v, u) && certain_[v.index] && core_[v].clock == s_.units[u].clock;
  }

  void find_certain() {
    std::vector<ValueId> work = results(core_);
    for (const ValueId v : failing(core_)) work.push_back(v);
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (certain_[v.index] || core_.is_const(v)) continue;
      certain_[v.index] = true;
      for (const ValueId o : always_needed(core_, v))
        if (core_[o].clock == core_[v].clock) work.push_back(o);
      if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs)) work.push_back(f->next);
      if (const auto* p = std::get_if<core::Post>(&core_[v].rhs)) work.push_back(p->operand);
    }
  }

  void streams() {
    for (std::uint32_t i = 0; i < core_.values.size(); ++i) {
      const ValueId v{i};
      if (s_.sources[i].skip > 0) {
        add("wrong skip", v, [&](Schedule& s) { ++s.sources[i].skip; });
        add("wrong skip", v, [&](Schedule& s) { --s.sources[i].skip; });
      }
      if (s_.unit_of[i] != Schedule::nowhere && i > 0)
        add("wrong source", v, [&](Schedule& s) { s.sources[i].value = ValueId{i - 1}; });
      if (s_.is_delayed(v))
        add("no stream with a first element", v, [&](Schedule& s) { s.delayed[i] = false; }, !read_early(v));
      else if (!std::holds_alternative<core::Fby>(core_[v].rhs) && i % 4 == 0)
        add("a stream with a first element", v, [&](Schedule& s) {
          s.delayed.resize(core_.values.size());
          s.delayed[i] = true;
        });
    }
  }
  // True if a unit that runs before its own reads the value.
  bool read_early(ValueId v) const {
    for (std::uint32_t u = 0; u <= s_.unit_of[v.index]; ++u)
      for (const ValueId o : s_.units[u].operands)
        if (s_.sources[o.index].value == v) return true;
    return false;
  }

  void flags() {
    const bool waits = s_.units.size() > 1 || (s_.units.size() == 1 && s_.units[0].segmented);
    if (waits) add("straight", {}, [&](Schedule& s) { s.straight = true; });
  }

  void operands(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    for (std::size_t k = 0; k < unit.operands.size(); ++k) {
      const ValueId v = unit.operands[k];
      if (std::ranges::any_of(unit.values, [&](ValueId user) { return mentions(core_, user, v); }))
        add("operand dropped", v, [&](Schedule& s) {
          s.units[u].operands.erase(s.units[u].operands.begin() + static_cast<std::ptrdiff_t>(k));
          s.units[u].needed.erase(s.units[u].needed.begin() + static_cast<std::ptrdiff_t>(k));
        });
      for (std::size_t j = 0; j < k; ++j)
        if (core_[v].clock != unit.clock && core_[core_[v].clock].condition == unit.operands[j])
          add("operand before its condition", v, [&](Schedule& s) {
            std::swap(s.units[u].operands[j], s.units[u].operands[k]);
            std::swap(s.units[u].needed[j], s.units[u].needed[k]);
          });
      for (std::size_t l = 0; l < unit.needed[k].size(); ++l)
        add("waits where it need not", v, [&](Schedule& s) {
          bool& positive = s.units[u].needed[k][l].positive;
          positive = !positive;
        });
    }
  }

  // An operand of the leading sweep cannot arrive with the next instant; an operand that does may
  // also be waited for.
  void belated(std::uint32_t u) {
    const ScheduledUnit& unit = s_.units[u];
    for (const ValueId v : unit.operands) {
      const auto looks = [&](const SweepItem& i) { return certain(i.value, u) && mentions(core_, i.value, v); };
      if (!unit.is_belated(v) && std::ranges::any_of(unit.plan.sweeps[0].items, looks))
        add("belated, and looked at by the leading sweep", v, [&](Schedule& s) { s.units[u].belated.push_back(v); });
    }
    if (!unit.belated.empty())
      add("nothing is belated", unit.belated[0], [&](Schedule& s) { s.units[u].belated.clear(); }, true);
  }

  void clocks(std::uint32_t u) {
    for (std::uint32_t c = 0; c < core_.clocks.size(); ++c)
      if (ClockId{c} != never_clock && !within(core_, s_.units[u].clock, ClockId{c}))
        add("another clock", s_.units[u].values[0], [&](Schedule& s) { s.units[u].clock = ClockId{c}; });
  }

  void units(std::uint32_t u) {
    if (u + 1 < s_.units.size()) {
      const auto reads = [&](ValueId v) {
        return member(s_.sources[v.index].value, u) && !s_.is_delayed(s_.sources[v.index].value);
      };
      const bool needs = std::ranges::any_of(s_.units[u + 1].operands, reads);
      const bool back = std::ranges::any_of(s_.units[u].operands,
                                            [&](ValueId v) { return member(s_.sources[v.index].value, u + 1); });
      const bool guarded = std::ranges::any_of(s_.units[u + 1].needed, [](const auto& n) { return !n.empty(); });
      if (needs || (!back && !guarded))
        add(
            needs ? "units change places" : "units apart change places", s_.units[u].values[0],
            [&](Schedule& s) {
              std::swap(s.units[u], s.units[u + 1]);
              for (std::uint32_t& of : s.unit_of) of = of == u ? u + 1 : of == u + 1 ? u : of;
            },
            !needs);
    }
    for (const ValueId v : s_.units[u].values) {
      add("said to be elsewhere", v, [&](Schedule& s) { s.unit_of[v.index] = Schedule::nowhere; });
      const std::uint32_t other = u == 0 ? 1 : 0;
      if (other >= s_.units.size() || s_.units[u].segmented) continue;
      const auto lost = [&](ValueId o) {
        return member(o, u) && std::ranges::find(s_.units[other].operands, o) == s_.units[other].operands.end();
      };
      if (std::ranges::any_of(always_needed(core_, v), lost) && s_.units[u].values.size() > 1)
        add("moved to another unit", v, [&](Schedule& s) {
          std::erase(s.units[u].values, v);
          s.units[other].values.push_back(v);
          s.unit_of[v.index] = other;
        });
    }
  }

  void forward(std::uint32_t u) {
    const std::vector<ValueId>& values = s_.units[u].values;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const ValueId v = values[k];
      add("value dropped", v,
          [&](Schedule& s) { s.units[u].values.erase(s.units[u].values.begin() + static_cast<std::ptrdiff_t>(k)); });
      add("value twice", v, [&](Schedule& s) { s.units[u].values.push_back(v); });
      for (std::size_t j = 0; j < k; ++j)
        if (certain(v, u) && std::ranges::count(always_needed(core_, v), values[j]) > 0)
          add("values change places", v, [&](Schedule& s) { std::swap(s.units[u].values[j], s.units[u].values[k]); });
      if (k > 0 && !mentions(core_, v, values[k - 1]))
        add(
            "values apart change places", v,
            [&](Schedule& s) { std::swap(s.units[u].values[k - 1], s.units[u].values[k]); }, true);
    }
  }

  void segments(std::uint32_t u) {
    cuts(u);
    const std::vector<SweepPlan>& passes = s_.units[u].plan.sweeps;
    add("leading sweep turned", s_.units[u].values[0], [&](Schedule& s) { s.units[u].plan.sweeps[0].backward = true; });
    for (std::size_t p = 0; p < passes.size(); ++p) {
      turn(u, p);
      for (std::size_t k = 0; k < passes[p].items.size(); ++k) {
        item(u, p, k);
        change_places(u, p, k);
        change_sweep(u, p, k);
        part_result(u, p, k);
      }
    }
    for (const ValueId v : s_.units[u].values)
      if (certain(v, u)) {
        add("idle", v, [&](Schedule& s) {
          remove(s.units[u], v);
          s.units[u].idle.emplace_back(v, ValueId{});
          s = add_zeros(std::move(s));
        });
        add("item dropped", v, [&](Schedule& s) { remove(s.units[u], v); });
      }
  }
  static void remove(ScheduledUnit& unit, ValueId v) {
    for (SweepPlan& pass : unit.plan.sweeps)
      std::erase_if(pass.items, [&](const SweepItem& i) { return i.value == v; });
  }
  static std::vector<SweepItem>& items(Schedule& s, std::uint32_t u, std::size_t p) {
    return s.units[u].plan.sweeps[p].items;
  }

  void cuts(std::uint32_t u) {
    const SegmentPlan& plan = s_.units[u].plan;
    const ValueId at = plan.cut.condition;
    add("cut negated", at, [&](Schedule& s) {
      s.units[u].plan.cut.positive = !plan.cut.positive;
      s = add_cuts(std::move(s));
    });
    add("cut that is none", at, [&](Schedule& s) { s.units[u].plan.cut.positive = !plan.cut.positive; });
    // A segment that ends where no value needs it may also end elsewhere.
    for (const ValueId v : s_.units[u].operands)
      if (!plan.by_need && v != at && core_[v].dtype == DType::boolean && s_.is_base_input(v) &&
          core_[v].clock == s_.units[u].clock)
        add("another cut", v, [&](Schedule& s) {
          s.units[u].plan.cut = {v, true};
          s = add_cuts(std::move(s));
        });
    for (std::size_t k = 0; k < plan.only_at_cut.size(); ++k)
      add("only at the cut dropped", at, [&](Schedule& s) {
        s.units[u].plan.only_at_cut.erase(s.units[u].plan.only_at_cut.begin() + static_cast<std::ptrdiff_t>(k));
      });
    if (!plan.awaiting.empty()) add("awaiting dropped", at, [&](Schedule& s) { s.units[u].plan.awaiting.clear(); });
  }

  // A later sweep takes the result of a call that this sweep makes.
  void part_result(std::uint32_t u, std::size_t p, std::size_t k) {
    const SweepItem item = s_.units[u].plan.sweeps[p].items[k];
    if (!std::holds_alternative<core::Result>(core_[item.value].rhs)) return;
    for (std::size_t later = p + 1; later < s_.units[u].plan.sweeps.size(); ++later)
      add("result apart from its call", item.value, [&](Schedule& s) {
        items(s, u, p).erase(items(s, u, p).begin() + static_cast<std::ptrdiff_t>(k));
        items(s, u, later).insert(items(s, u, later).begin(), item);
      });
  }

  // Returns the sweeps that compute a value.
  std::vector<std::size_t> sweeps_of(std::uint32_t u, ValueId v) const {
    std::vector<std::size_t> found;
    const std::vector<SweepPlan>& passes = s_.units[u].plan.sweeps;
    for (std::size_t p = 0; p < passes.size(); ++p)
      if (std::ranges::find(passes[p].items, v, &SweepItem::value) != passes[p].items.end()) found.push_back(p);
    return found;
  }
  bool only_in(std::uint32_t u, ValueId v, std::size_t p) const {
    return member(v, u) && sweeps_of(u, v) == std::vector{p};
  }

  // Reverses a sweep against the direction of a value that it carries.
  void turn(std::uint32_t u, std::size_t p) {
    const SweepPlan& pass = s_.units[u].plan.sweeps[p];
    const bool carries = std::ranges::any_of(pass.items, [&](const SweepItem& i) {
      if (!certain(i.value, u) || i.classes != any_instant) return false;
      const core::Rhs& rhs = core_[i.value].rhs;
      if (const auto* f = std::get_if<core::Fby>(&rhs)) return only_in(u, f->next, p);
      const auto* post = std::get_if<core::Post>(&rhs);
      return post != nullptr && only_in(u, post->operand, p);
    });
    const bool looks_ahead = pass.backward && std::ranges::any_of(pass.items, [&](const SweepItem& i) {
                               const auto* post = std::get_if<core::Post>(&core_[i.value].rhs);
                               return post != nullptr && only_in(u, post->operand, p);
                             });
    if (p > 0 && (carries || looks_ahead))
      add("sweep turned", pass.items[0].value, [&](Schedule& s) {
        SweepPlan& turned = s.units[u].plan.sweeps[p];
        turned.backward = !turned.backward;
      });
  }

  void item(std::uint32_t u, std::size_t p, std::size_t k) {
    const SweepItem& i = s_.units[u].plan.sweeps[p].items[k];
    for (const std::uint8_t bit : {first_instant, interior_instant, last_instant, single_instant}) {
      if ((i.classes & bit) == 0) continue;
      if (certain(i.value, u))
        add("class dropped", i.value, [&](Schedule& s) {
          items(s, u, p)[k].classes &= static_cast<std::uint8_t>(~bit);
          if (items(s, u, p)[k].classes == 0)
            items(s, u, p).erase(items(s, u, p).begin() + static_cast<std::ptrdiff_t>(k));
        });
      for (std::size_t q = 0; q < s_.units[u].plan.sweeps.size(); ++q)
        for (std::size_t j = 0; j < s_.units[u].plan.sweeps[q].items.size(); ++j)
          if (s_.units[u].plan.sweeps[q].items[j].value == i.value && (q != p || j != k))
            add("class added", i.value, [&](Schedule& s) { items(s, u, q)[j].classes |= bit; });
    }
    add("item twice", i.value, [&](Schedule& s) { items(s, u, p).push_back(i); });
  }

  void change_places(std::uint32_t u, std::size_t p, std::size_t k) {
    const std::vector<SweepItem>& list = s_.units[u].plan.sweeps[p].items;
    const ValueId v = list[k].value, cut = s_.units[u].plan.cut.condition;
    for (std::size_t j = 0; j < k; ++j)
      if (certain(v, u) && (list[j].classes & list[k].classes) != 0 &&
          std::ranges::count(always_needed(core_, v), list[j].value) > 0)
        add("items change places", v, [&](Schedule& s) { std::swap(items(s, u, p)[j], items(s, u, p)[k]); });
    if (k > 0 && !mentions(core_, v, list[k - 1].value) && v != cut && list[k - 1].value != cut)
      add(
          "items apart change places", v, [&](Schedule& s) { std::swap(items(s, u, p)[k - 1], items(s, u, p)[k]); },
          true);
  }

  void move(Schedule& s, std::uint32_t u, std::size_t p, std::size_t k, std::size_t q) const {
    const SweepItem moved = items(s, u, p)[k];
    items(s, u, p).erase(items(s, u, p).begin() + static_cast<std::ptrdiff_t>(k));
    items(s, u, q).push_back(moved);
  }

  // Moves a value to a sweep before that of an operand, or after that of a user.
  void change_sweep(std::uint32_t u, std::size_t p, std::size_t k) {
    const SweepItem& i = s_.units[u].plan.sweeps[p].items[k];
    const std::size_t count = s_.units[u].plan.sweeps.size();
    if (!certain(i.value, u) || i.classes != any_instant) return;
    for (std::size_t q = 0; q < count; ++q) {
      const auto is_later = [&](ValueId o) { return member(o, u) && sweeps_of(u, o) == std::vector{p}; };
      if (q < p && std::ranges::any_of(always_needed(core_, i.value), is_later))
        add("moved to an earlier sweep", i.value, [&](Schedule& s) { move(s, u, p, k, q); });
      const auto is_user = [&](ValueId user) {
        return certain(user, u) && sweeps_of(u, user) == std::vector{p} &&
               std::ranges::count(always_needed(core_, user), i.value) > 0;
      };
      if (q > p && std::ranges::any_of(s_.units[u].values, is_user))
        add("moved to a later sweep", i.value, [&](Schedule& s) { move(s, u, p, k, q); });
    }
  }

  const Schedule& s_;
  const Core& core_;
  std::vector<bool> certain_;  // one per value: true if it is certainly needed
  std::vector<Mutant> out_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Schedule& s) { return Mutation(s).all(); }

}  // namespace rml
