// Passes from the last to the first, each from its end: what has no user left in it may move to the one later
// pass that has them all, and then its operands.
#include "lowering/postpone.h"

#include <algorithm>
#include <map>
#include <set>

namespace rml {

namespace {

class Postponing {
 public:
  Postponing(const Core& core, std::vector<PassPlan>& passes, const PostponeQuestions& questions)
      : core_(core), passes_(passes), ask_(questions) {}

  void run() {
    for (std::size_t p = passes_.size(); p-- > 0;) empty_out(p);
  }

 private:
  struct Users {  // among the items of this pass and of those behind it
    std::size_t here = 0, later = 0;
    std::size_t pass = 0;  // the later ones'; 0: none, SIZE_MAX: several, or where v cannot be computed
  };

  void empty_out(std::size_t from) {
    count(from);
    std::map<ValueId, PassItem> moved;
    std::vector<PassItem> stays;
    for (auto i = passes_[from].items.rbegin(); i != passes_[from].items.rend(); ++i) {
      const Users of = users_[i->value];
      if (of.here > 0 || of.later == 0 || of.pass == SIZE_MAX || !movable(i->value, from) || !keeps_less(i->value)) {
        stays.push_back(*i);
        continue;
      }
      moved.emplace(i->value, *i);
      for_each_operand(core_[i->value].rhs, [&](ValueId o) {
        Users& u = users_[o];
        --u.here;
        ++u.later;
        u.pass = u.pass == 0 || u.pass == of.pass ? of.pass : SIZE_MAX;
      });
    }
    passes_[from].items.assign(stays.rbegin(), stays.rend());
    for (std::size_t p = from + 1; p < passes_.size(); ++p) insert_moved(passes_[p].items, moved);
  }

  void count(std::size_t from) {
    users_.clear();
    before_.clear();
    for (std::size_t p = 0; p < from; ++p)
      for (const PassItem& i : passes_[p].items) before_.insert(i.value);
    for (std::size_t p = from; p < passes_.size(); ++p)
      for (const PassItem& i : passes_[p].items) {
        const bool elsewhere = std::holds_alternative<core::Fby>(core_[i.value].rhs) || ask_.batched(i.value);
        ask_.operands(i.value, [&](ValueId o) {
          ++(p == from ? users_[o].here : users_[o].later);
          if (p > from) users_[o].pass = users_[o].pass == 0 || users_[o].pass == p ? p : SIZE_MAX;
          if (elsewhere) users_[o].pass = SIZE_MAX;
        });
      }
  }

  // Each before its first user.
  void insert_moved(std::vector<PassItem>& items, std::map<ValueId, PassItem>& moved) const {
    std::vector<PassItem> all, stack;
    for (const PassItem& item : items) {
      stack.assign(1, item);
      while (!stack.empty()) {
        const PassItem top = stack.back();
        const std::size_t before = stack.size();
        for_each_operand(core_[top.value].rhs, [&](ValueId o) {
          if (const auto at = moved.find(o); at != moved.end() && o != top.value) stack.push_back(at->second);
        });
        if (stack.size() > before) continue;
        stack.pop_back();
        if (stack.empty() || moved.erase(top.value) > 0) all.push_back(top);  // it may have been asked for twice
      }
    }
    items = std::move(all);
  }

  // Nothing but its users depends on when it is computed.
  bool movable(ValueId v, std::size_t from) const {
    if (core_[v].dtype == DType::boolean || !ask_.movable(v, from)) return false;
    const core::Rhs& rhs = core_[v].rhs;
    if (std::holds_alternative<core::When>(rhs) || std::holds_alternative<core::Merge>(rhs)) return true;
    return only_computes(core_, v);
  }

  // Its operands, where they are not kept anyway, are no larger; scalars do not count.
  bool keeps_less(ValueId v) const {
    std::int64_t more = 0;
    std::set<ValueId> seen;
    for_each_operand(core_[v].rhs, [&](ValueId o) {
      if (!seen.insert(o).second || core_[o].shape.empty() || ask_.there(o) || before_.contains(o)) return;
      if (users_.at(o).later == 0 || ask_.memory(o)) more += size(o);
    });
    return more <= (ask_.once(v) ? 0 : size(v));
  }
  std::int64_t size(ValueId v) const {
    return *element_count(core_[v].shape) * static_cast<std::int64_t>(byte_size(core_[v].dtype));
  }

  const Core& core_;
  std::vector<PassPlan>& passes_;
  const PostponeQuestions& ask_;
  std::map<ValueId, Users> users_;
  std::set<ValueId> before_;  // computed in earlier passes
};

}  // namespace

void postpone(const Core& core, std::vector<PassPlan>& passes, const PostponeQuestions& questions) {
  Postponing(core, passes, questions).run();
}

}  // namespace rml
