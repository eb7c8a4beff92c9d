// From every memory that one pass replays in place: first the values that are the same as at the first
// instant and looked at before that pass only, then the value that it becomes.
#include "lowering/share_cells.h"

#include <algorithm>

namespace rml {

namespace {

class Sharing {
 public:
  Sharing(const Core& core, const SegmentFacts& facts, const std::vector<PassPlan>& passes, const SharingQuestions& ask)
      : core_(core), facts_(facts), ask_(ask), users_(core.values.size()) {
    for (std::size_t p = 0; p < passes.size(); ++p)
      for (const PassItem& i : passes[p].items) {
        if (places_[i.value].insert(p).second)
          for_each_operand(core_[i.value].rhs, [&](ValueId o) { users_[o.index].push_back(i.value); });
      }
  }

  SharedCells run() {
    for (const auto& [v, places] : places_) {
      if (!std::holds_alternative<core::Fby>(core_[v].rhs)) continue;
      const std::size_t until = ask_.in_place(v);
      if (until == 0 || core_[v].shape.empty()) continue;
      const std::set<ValueId> same = same_as_first(v, until);
      for (const ValueId s : same) result_.lies_in[s] = v;
      find_next(v, until, same);
    }
    return std::move(result_);
  }

 private:
  bool before(ValueId v, std::size_t pass) const {
    return std::ranges::all_of(ask_.used(v), [&](std::size_t p) { return p < pass; });
  }

  // Samples of p at the first instant, and what holds one of them. In the pass that moves p on, at the end of each
  // instant, samples still find it.
  std::set<ValueId> same_as_first(ValueId p, std::size_t until) const {
    std::set<ValueId> same;
    for (const ValueId u : users_[p.index]) {
      const auto* w = std::get_if<core::When>(&core_[u].rhs);
      if (w == nullptr || !facts_.present_first(u)) continue;
      if (before(u, until + 1)) same.insert(u);
      for (const ValueId h : users_[u.index]) {
        const ValueId f = ask_.holder(h);
        if (!f.valid() || std::get<core::Merge>(core_[h].rhs).on_true != u || core_[f].dtype != core_[p].dtype)
          continue;
        const ValueId rest = std::get<core::Merge>(core_[h].rhs).on_false;
        if (before(h, until) && before(f, until) && before(rest, until) && after_first(f)) same.insert({h, f, rest});
      }
    }
    return same;
  }

  // At the first instant a memory is what was held before, and p has moved on.
  bool after_first(ValueId f) const {
    return !ask_.looked_at(f) &&
           std::ranges::all_of(users_[f.index], [&](ValueId u) { return facts_.absent_first(u); });
  }

  // p moves on to `u` at the first instant and stays as it is at the others. Where u is computed, nothing but u looks
  // at what was there.
  void find_next(ValueId p, std::size_t until, const std::set<ValueId>& same) {
    const Change change = what_changes(core_, p, std::get<core::Fby>(core_[p].rhs).next);
    const ValueId u = change.next;
    if (!u.valid() || !facts_.present_first(u) || ask_.looked_at(p) || ask_.looked_at(u)) return;
    const auto at = places_.find(u);
    if (at == places_.end() || at->second.size() != 1 || *at->second.begin() == 0) return;
    const std::size_t pass = *at->second.begin();
    if (pass > until || !std::holds_alternative<core::Apply>(core_[u].rhs)) return;
    for (const ValueId s : same)
      if (!before(s, pass) &&
          !std::ranges::all_of(users_[s.index], [&](ValueId x) { return x == u || early(x, pass); }))
        return;
    for (const ValueId x : users_[p.index])
      if (!same.contains(x) && !early(x, pass) && !only_keeps(x, p)) return;
    result_.moves_on[u] = p;
  }

  bool early(ValueId v, std::size_t pass) const {
    return std::ranges::all_of(places_.at(v), [&](std::size_t p) { return p < pass; });
  }
  // A sample of p that only tells p that it stays as it is.
  bool only_keeps(ValueId v, ValueId p) const {
    if (v == std::get<core::Fby>(core_[p].rhs).next) return true;
    const bool passes_on =
        std::holds_alternative<core::When>(core_[v].rhs) || std::holds_alternative<core::Merge>(core_[v].rhs);
    return passes_on && !ask_.looked_at(v) && !facts_.present_first(v) &&
           std::ranges::all_of(users_[v.index], [&](ValueId u) { return u != v && only_keeps(u, p); });
  }

  const Core& core_;
  const SegmentFacts& facts_;
  const SharingQuestions& ask_;
  std::vector<std::vector<ValueId>> users_;          // among the items of the passes
  std::map<ValueId, std::set<std::size_t>> places_;  // passes that compute a value
  SharedCells result_;
};

}  // namespace

SharedCells share_cells(const Core& core, const SegmentFacts& facts, const std::vector<PassPlan>& passes,
                        const SharingQuestions& questions) {
  return Sharing(core, facts, passes, questions).run();
}

}  // namespace rml
