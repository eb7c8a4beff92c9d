// Computes the set of sources that each value depends on. Each set is stored once and has a
// number.
//
// The sources are the values that a value reads within the cycle: inputs, stacked merges, sums
// over elements, look-ahead. A delay has no source in its own cycle, unless its initial value is
// a stream or it delays a look-ahead.
#include "semantics/spread/parts.h"

#include <algorithm>
#include <map>

#include "semantics/core/queries.h"

namespace rml::mapped {

namespace {

using Set = std::vector<std::uint32_t>;  // ids of values, sorted

class PartFinder {
 public:
  PartFinder(const Core& body, const Elements& elements, bool comes_back)
      : body_(body), elements_(elements), comes_back_(comes_back), clock_sets_(body.clocks.size(), unknown) {
    number_of({});
  }

  Parts run() {
    find_what_looks_ahead();
    bool goes_round = false;
    for (std::size_t v = 0; v < body_.values.size(); ++v) {
      found_.stands.push_back(stand(ValueId{v}));
      goes_round = goes_round || reads_what_is_behind(body_, ValueId{v});
    }
    sets_.resize(body_.values.size(), 0);
    while (find_sets() && goes_round) {
    }
    for (std::size_t v = 0; v < body_.values.size(); ++v) assign(ValueId{v});
    return std::move(found_);
  }

 private:
  static constexpr std::uint32_t unknown = UINT32_MAX;

  Stand stand(ValueId v) const {
    const rml::Value& value = body_[v];
    if (body_.is_const(v)) return Stand::constant;
    if (!elements_.differs(v)) return Stand::once;
    if (elements_.differs(value.clock)) return Stand::inside;
    if (const auto* merge = std::get_if<core::Merge>(&value.rhs))
      return elements_.differs(merge->condition) ? Stand::inside : Stand::stacked;
    const core::Apply* apply = apply_of(body_, v);
    if (apply != nullptr && is_over_elements(apply->op)) return Stand::stacked;
    const bool computes =
        apply != nullptr
            ? !operators()[apply->op].random && apply_of(body_, v, Lowering::parameter) == nullptr
            : std::holds_alternative<core::Call>(value.rhs) || std::holds_alternative<core::Result>(value.rhs);
    return computes ? Stand::inside : Stand::stacked;
  }

  // Marks the values that depend on a look-ahead, also through delays.
  void find_what_looks_ahead() {
    ahead_.assign(body_.values.size(), false);
    std::vector<ValueId> work;
    const auto mark = [&](ValueId v) {
      if (ahead_[v.index]) return;
      ahead_[v.index] = true;
      work.push_back(v);
    };
    for (std::size_t v = 0; v < body_.values.size(); ++v)
      if (std::holds_alternative<core::Post>(body_.values[v].rhs)) mark(ValueId{v});
    if (work.empty()) return;
    const Uses uses(body_);
    std::vector<std::vector<ValueId>> sampled(body_.values.size());
    for (std::size_t v = 0; v < body_.values.size(); ++v)
      for (const ClockId c : ancestors(body_, body_.values[v].clock))
        sampled[body_[c].condition.index].push_back(ValueId{v});
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      for (const ValueId user : uses.of(v)) mark(user);
      for (const ValueId user : sampled[v.index]) mark(user);
    }
  }

  // Computes all sets once. True if a set has grown.
  bool find_sets() {
    bool grown = false;
    clock_sets_.assign(body_.clocks.size(), unknown);
    for (std::size_t v = 0; v < body_.values.size(); ++v) {
      const std::uint32_t set = set_of(ValueId{v});
      grown = grown || set != sets_[v];
      sets_[v] = set;
    }
    return grown;
  }

  std::uint32_t set_of(ValueId v) {
    const auto& rhs = body_[v].rhs;
    if (body_.is_const(v)) return 0;
    if (std::holds_alternative<core::Input>(rhs))
      return number_of({comes_back_ ? v.index : body_.inputs[0].value.index});
    if (std::holds_alternative<core::Post>(rhs)) return number_of({v.index});
    if (const auto* f = std::get_if<core::Fby>(&rhs))
      return body_.is_const(f->init) && !ahead_[v.index] ? 0 : number_of({v.index});
    const core::Apply* apply = apply_of(body_, v);
    if (apply != nullptr && is_over_elements(apply->op)) return number_of({v.index});
    if (std::holds_alternative<core::Merge>(rhs) && found_.stands[v.index] == Stand::stacked)
      return number_of({v.index});
    std::uint32_t set = set_of(body_[v].clock);
    for_each_operand(rhs, [&](ValueId o) { set = joined(set, sets_[o.index]); });
    return set;
  }

  // The sources on which the presence of a clock depends.
  std::uint32_t set_of(ClockId clock) {
    for (const ClockId c : path_to(body_, clock)) {
      if (clock_sets_[c.index] != unknown) continue;
      const Clock& at = body_[c];
      const std::uint32_t above = at.parent.index < 2 ? 0 : clock_sets_[at.parent.index];
      clock_sets_[c.index] = joined(above, sets_[at.condition.index]);
    }
    return clock.index < 2 ? 0 : clock_sets_[clock.index];
  }

  std::uint32_t number_of(Set set) {
    const auto [known, is_new] = numbers_.try_emplace(std::move(set), static_cast<std::uint32_t>(contents_.size()));
    if (is_new) contents_.push_back(&known->first);
    return known->second;
  }

  std::uint32_t joined(std::uint32_t a, std::uint32_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    const auto [known, is_new] = joined_.try_emplace({std::min(a, b), std::max(a, b)}, 0);
    if (!is_new) return known->second;
    Set both;
    std::ranges::set_union(*contents_[a], *contents_[b], std::back_inserter(both));
    return known->second = number_of(std::move(both));
  }

  void assign(ValueId v) {
    found_.part.push_back(Parts::none);
    if (found_.stands[v.index] != Stand::inside) return;
    const std::pair key(elements_.home(body_[v].clock).index, sets_[v.index]);
    const auto [known, is_new] = parts_.try_emplace(key, static_cast<std::uint32_t>(found_.members.size()));
    if (is_new) found_.members.emplace_back();
    found_.members[known->second].push_back(v);
    found_.part.back() = known->second;
  }

  const Core& body_;
  const Elements& elements_;
  const bool comes_back_;
  std::vector<bool> ahead_;                // one per value: it depends on a look-ahead
  std::vector<std::uint32_t> sets_;        // indexed by value: number of its set of sources
  std::vector<std::uint32_t> clock_sets_;  // indexed by clock: number of its set of sources
  std::map<Set, std::uint32_t> numbers_;
  std::vector<const Set*> contents_;  // the sets, by their numbers
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> parts_;  // numbers of the parts, by clock and set
  Parts found_;
};

}  // namespace

Parts find_parts(const Core& body, const Elements& elements, bool comes_back) {
  return PartFinder(body, elements, comes_back).run();
}

}  // namespace rml::mapped
