// Removes unused values from iterations: results that are not read, states that only such results
// use, operands that no result depends on. One sequence always remains, since it gives the number
// of rounds.
#include <algorithm>

#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"
#include "semantics/simplify/simplify.h"

namespace rml {

namespace {

struct Kept {
  std::vector<bool> inputs, outputs;
  bool all() const {
    return std::ranges::all_of(inputs, std::identity{}) && std::ranges::all_of(outputs, std::identity{});
  }
};

// The inputs that the kept outputs depend on.
std::vector<bool> read_inputs(const Core& body, const std::vector<bool>& outputs) {
  std::vector<ValueId> roots;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k]) roots.push_back(body.outputs[k].value);
  const std::vector<bool> live = reachable(body, std::move(roots));
  std::vector<bool> inputs;
  for (const Port& p : body.inputs) inputs.push_back(live[p.value.index]);
  return inputs;
}

// The next value of a state is needed if the state is read.
Kept find_kept(const Iteration& it, const std::vector<bool>& read) {
  Kept kept{{}, read};
  for (bool changed = true; changed;) {
    changed = false;
    kept.inputs = read_inputs(it.body, kept.outputs);
    for (std::size_t k = 0; k < it.states; ++k) {
      if (kept.outputs[k] || !kept.inputs[k]) continue;
      kept.outputs[k] = changed = true;
    }
  }
  for (std::size_t k = 0; k < it.states; ++k) kept.inputs[k] = kept.outputs[k];
  const auto first = kept.inputs.begin() + it.states;
  if (std::none_of(first, first + it.sequences, std::identity{})) *first = true;
  return kept;
}

template <class T>
void keep(std::vector<T>& list, const std::vector<bool>& which) {
  std::size_t to = 0;
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (!which[k]) continue;
    if (to != k) list[to] = std::move(list[k]);
    ++to;
  }
  list.resize(to);
}

void prune(ExternalNode& external, const Kept& kept) {
  auto pruned = std::make_shared<Iteration>(*external.iteration);
  const auto count = [&](std::size_t from, std::size_t to) {
    return static_cast<std::uint32_t>(std::count(kept.inputs.begin() + static_cast<std::ptrdiff_t>(from),
                                                 kept.inputs.begin() + static_cast<std::ptrdiff_t>(to), true));
  };
  const std::size_t states = pruned->states, sequences = pruned->sequences;
  pruned->states = count(0, states);
  pruned->sequences = count(states, states + sequences);
  keep(external.inputs, kept.inputs);
  keep(external.outputs, kept.outputs);
  Core& body = pruned->body;
  keep(body.inputs, kept.inputs);
  keep(body.outputs, kept.outputs);
  for (std::size_t k = 0; k < body.inputs.size(); ++k)
    std::get<core::Input>(body[body.inputs[k].value].rhs).index = static_cast<std::uint32_t>(k);
  std::vector<ValueId> roots;
  for (const auto* ports : {&body.inputs, &body.outputs})
    for (const Port& p : *ports) roots.push_back(p.value);
  renumber(body, reachable(body, std::move(roots)));
  pruned->can_fail = false;
  for (std::size_t v = 0; v < body.values.size(); ++v)
    pruned->can_fail = pruned->can_fail || can_fail(body, ValueId(v));
  external.iteration = std::move(pruned);
}

}  // namespace

bool prune_iterations(Core& core) {
  std::vector<Kept> kept(core.externals.size());
  std::vector<std::vector<bool>> read;
  for (const ExternalNode& e : core.externals) read.emplace_back(e.outputs.size(), false);
  for (const Value& v : core.values)
    if (const auto* r = std::get_if<core::Result>(&v.rhs))
      read[std::get<core::Call>(core[r->call].rhs).external][r->output] = true;
  bool found = false;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    ExternalNode& external = core.externals[k];
    if (external.in_c() || std::ranges::none_of(read[k], std::identity{})) continue;
    kept[k] = find_kept(*external.iteration, read[k]);
    if (kept[k].all()) {
      kept[k] = {};
      continue;
    }
    prune(external, kept[k]);
    found = true;
  }
  if (!found) return false;
  for (Value& v : core.values) {
    if (auto* call = std::get_if<core::Call>(&v.rhs); call != nullptr && !kept[call->external].inputs.empty())
      keep(call->operands, kept[call->external].inputs);
    if (auto* r = std::get_if<core::Result>(&v.rhs)) {
      const Kept& k = kept[std::get<core::Call>(core[r->call].rhs).external];
      if (!k.outputs.empty())
        r->output = static_cast<std::uint32_t>(std::count(k.outputs.begin(), k.outputs.begin() + r->output, true));
    }
  }
  return true;
}

}  // namespace rml
