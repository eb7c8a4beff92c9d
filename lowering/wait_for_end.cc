#include "lowering/wait_for_end.h"

#include <algorithm>
#include <set>

namespace rml {

namespace {

void for_each_condition(const Core& core, ValueId v, const std::function<void(ValueId)>& f) {
  for (ClockId c = core[v].clock; c.index >= 2; c = core[c].parent) f(core[c].condition);
}

void split_leading(std::vector<PassPlan>& passes, const std::function<bool(ValueId)>& waits) {
  PassPlan leading, second;
  for (const PassItem& i : passes[0].items) (waits(i.value) ? second : leading).items.push_back(i);
  passes[0] = std::move(leading);
  if (!second.items.empty()) passes.insert(passes.begin() + 1, std::move(second));
}

// And what is computed from them, and what from that.
void add_users(const Core& core, const std::vector<PassItem>& items, std::set<ValueId>& all) {
  for (std::size_t before = 0; before != all.size();) {
    before = all.size();
    for (const PassItem& i : items) {
      bool uses = false;
      const auto look = [&](ValueId o) { uses = uses || all.contains(o); };
      for_each_operand(core[i.value].rhs, look);
      for_each_condition(core, i.value, look);
      if (uses) all.insert(i.value);
    }
  }
}

// At each instant, for later passes; about.
std::int64_t kept_bytes(const Core& core, const std::vector<PassPlan>& passes,
                        const std::function<bool(ValueId)>& lies) {
  std::map<ValueId, std::set<std::size_t>> computed;
  for (std::size_t p = 0; p < passes.size(); ++p)
    for (const PassItem& i : passes[p].items) computed[i.value].insert(p);
  std::set<ValueId> kept;
  for (std::size_t p = 0; p < passes.size(); ++p)
    for (const PassItem& i : passes[p].items)
      for_each_operand(core[i.value].rhs, [&](ValueId o) {
        const auto at = computed.find(o);  // operands of the unit are there in the leading pass
        const bool here = at == computed.end() ? p == 0 : at->second == std::set<std::size_t>{p};
        if (!here && !lies(o)) kept.insert(o);
      });
  std::int64_t bytes = 0;
  for (const ValueId v : kept)
    bytes += *element_count(core[v].shape) * static_cast<std::int64_t>(byte_size(core[v].dtype));
  return bytes;
}

}  // namespace

void wait_for_segment(const Core& core, const std::vector<ValueId>& roots, std::vector<PassPlan>& passes) {
  std::set<ValueId> here, early;
  for (const PassItem& i : passes[0].items) here.insert(i.value);
  std::vector<ValueId> work = roots;
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (!here.contains(v) || !early.insert(v).second) continue;
    for_each_operand(core[v].rhs, [&](ValueId o) { work.push_back(o); });
    for_each_condition(core, v, [&](ValueId o) { work.push_back(o); });
  }
  split_leading(passes, [&](ValueId v) { return !early.contains(v); });
}

void wait_for_products(const Core& core, ClockId clock, Literal cut, const std::vector<ValueId>& early,
                       std::vector<PassPlan>& passes, const BatchQuestions& questions,
                       const std::function<bool(ValueId)>& lies) {
  std::vector<PassPlan> trial = passes;
  wait_for_segment(core, early, trial);
  if (trial.size() == passes.size()) return;
  std::set<ValueId> second, waiting;
  for (const PassItem& i : trial[1].items) second.insert(i.value);
  for (const auto& [v, batch] : time_batch(core, clock, cut, trial, questions))
    if (!batch.sum && second.contains(v)) waiting.insert(v);
  if (waiting.empty()) return;
  add_users(core, passes[0].items, waiting);
  trial = passes;
  split_leading(trial, [&](ValueId v) { return waiting.contains(v); });
  if (kept_bytes(core, trial, lies) <= 2 * kept_bytes(core, passes, lies)) passes = std::move(trial);
}

}  // namespace rml
