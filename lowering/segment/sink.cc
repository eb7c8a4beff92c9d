// Visits the sweeps from the last to the first, each from its end. An item without users in its own sweep may move to
// the later sweep that has all its users; then its operands may follow.
#include "lowering/segment/sink.h"

#include <algorithm>
#include <map>
#include <set>

#include "semantics/core/queries.h"

namespace rml {

namespace {

class Sinking {
 public:
  Sinking(const SegmentFacts& facts, const Segment& segment)
      : core_(facts.core()), facts_(facts), segment_(segment), sweeps_(segment_.sweeps) {}

  Segment run() {
    for (std::size_t s = sweeps_.size(); s-- > 0;) empty_out(s);
    return std::move(segment_);
  }

 private:
  // The users of a value among the items of this sweep and of later ones.
  struct Users {
    std::size_t here = 0, later = 0;
    std::size_t sweep = 0;  // the later sweep with users; 0: none, `several`: more than one, or a sweep in which the
                            // value cannot be computed
  };
  static constexpr std::size_t several = SIZE_MAX;

  void empty_out(std::size_t from) {
    count(from);
    std::map<ValueId, SweepItem> moved;
    std::vector<SweepItem> stays;
    for (auto i = sweeps_[from].items.rbegin(); i != sweeps_[from].items.rend(); ++i) {
      const Users of = users_[i->value];
      if (of.here > 0 || of.later == 0 || of.sweep == several || !movable(i->value, from) || !keeps_less(i->value)) {
        stays.push_back(*i);
        continue;
      }
      moved.emplace(i->value, *i);
      for_each_operand(core_[i->value].rhs, [&](ValueId o) {
        Users& u = users_[o];
        --u.here;
        ++u.later;
        u.sweep = u.sweep == 0 || u.sweep == of.sweep ? of.sweep : several;
      });
    }
    sweeps_[from].items.assign(stays.rbegin(), stays.rend());
    for (std::size_t s = from + 1; s < sweeps_.size(); ++s) insert_moved(sweeps_[s].items, moved);
  }

  void count(std::size_t from) {
    users_.clear();
    before_.clear();
    for (std::size_t s = 0; s < from; ++s)
      for (const SweepItem& i : sweeps_[s].items) before_.insert(i.value);
    for (std::size_t s = from; s < sweeps_.size(); ++s)
      for (const SweepItem& i : sweeps_[s].items) {
        // A memory reads its next value at the end of the instant, and a product over all instants reads its operands
        // before the loop.
        const bool elsewhere =
            std::holds_alternative<core::Fby>(core_[i.value].rhs) || segment_.products.contains(i.value);
        facts_.for_each_operand(i.value, [&](ValueId o) {
          Users& u = users_[o];
          ++(s == from ? u.here : u.later);
          if (s > from) u.sweep = u.sweep == 0 || u.sweep == s ? s : several;
          if (elsewhere) u.sweep = several;
        });
      }
  }

  // Inserts each moved item before its first user.
  void insert_moved(std::vector<SweepItem>& items, std::map<ValueId, SweepItem>& moved) const {
    std::vector<SweepItem> all, stack;
    std::set<ValueId> here;
    for (const SweepItem& item : items) {
      stack.assign(1, item);
      while (!stack.empty()) {
        const SweepItem top = stack.back();
        const std::size_t before = stack.size();
        for_each_operand(core_[top.value].rhs, [&](ValueId o) {
          if (const auto at = moved.find(o); at != moved.end() && o != top.value) stack.push_back(at->second);
        });
        if (stack.size() > before) continue;
        stack.pop_back();
        // An item that was pushed twice is inserted once.
        if (stack.empty() || moved.erase(top.value) > 0) all.push_back(top);
        if (!stack.empty()) here.insert(top.value);
      }
    }
    items = std::move(all);
    if (!here.empty()) narrow(items, here);
  }

  // Limits a transposition that was moved here to the instants of its users: beside them it is only another way to read
  // the matrix. Posts and memories read other instants, so they do not count.
  void narrow(std::vector<SweepItem>& items, const std::set<ValueId>& moved) const {
    std::map<ValueId, std::uint8_t> needed;
    for (const SweepItem& i : items) {
      const core::Rhs& rhs = core_[i.value].rhs;
      std::uint8_t classes = i.classes;
      if (std::holds_alternative<core::Post>(rhs) || std::holds_alternative<core::Fby>(rhs)) classes = any_instant;
      for_each_operand(rhs, [&](ValueId o) { needed[o] |= classes; });
    }
    for (SweepItem& i : items)
      if (moved.contains(i.value) && apply_of(core_, i.value, Lowering::transpose) != nullptr)
        i.classes &= needed[i.value];
  }

  // True if the time at which v is computed affects only its users.
  bool movable(ValueId v, std::size_t from) const {
    if (core_[v].dtype == DType::boolean || !facts_.only_in(v, from) || facts_.handed_out(v) || facts_.checked(v) ||
        segment_.products.contains(v))
      return false;
    const core::Rhs& rhs = core_[v].rhs;
    if (std::holds_alternative<core::When>(rhs) || std::holds_alternative<core::Merge>(rhs)) return true;
    return only_computes(core_, v);
  }

  // True if v's operands, unless they are kept anyway, are no larger than v; scalars do not count.
  bool keeps_less(ValueId v) const {
    std::int64_t more = 0;
    std::set<ValueId> seen;
    for_each_operand(core_[v].rhs, [&](ValueId o) {
      if (!seen.insert(o).second || core_[o].shape.empty() || facts_.costs_nothing(o) || before_.contains(o)) return;
      if (users_.at(o).later == 0 || segment_.memories.contains(o)) more += facts_.bytes(o);
    });
    return more <= (facts_.present_once(v) ? 0 : facts_.bytes(v));
  }

  const Core& core_;
  const SegmentFacts& facts_;
  Segment segment_;
  std::vector<Sweep>& sweeps_;  // the sweeps of the segment
  std::map<ValueId, Users> users_;
  std::set<ValueId> before_;  // values computed in earlier sweeps
};

}  // namespace

Segment sink(const Schedule& schedule, const Streams& streams, const Segment& segment) {
  const SegmentFacts facts(schedule, streams, segment);
  return Sinking(facts, segment).run();
}

Segments sink(Segments s) {
  return change_each(std::move(s), [](const auto&... of) { return sink(of...); });
}

}  // namespace rml
