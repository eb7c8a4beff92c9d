// Call chains of drafts, for messages, and the search for dependences of a value on itself.
#include "semantics/instantiate/draft.h"

namespace rml::draft {

// Innermost calls first; a chain of more than eight is cut in the middle.
void add_instance_chain(Diagnostic& d, const Draft& draft, const Program& program, InstanceId instance) {
  std::vector<InstanceId> chain;
  for (InstanceId i = instance; i.valid() && draft.instances[i.index].parent.valid();
       i = draft.instances[i.index].parent)
    chain.push_back(i);
  constexpr std::size_t shown_per_end = 4;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    if (chain.size() > 2 * shown_per_end && k == shown_per_end) {
      d.note("… and " + std::to_string(chain.size() - 2 * shown_per_end) + " more instances");
      k = chain.size() - shown_per_end;
    }
    const Instance& i = draft.instances[chain[k].index];
    std::string node;
    NodeId of = i.node;
    for (; program[of].derived_from.valid(); of = program[of].derived_from) node += "diff ";
    d.label(i.call, "in the instance `" + i.path + "` of `" + node + program.text(program[of].name) + "`, called here");
  }
}

bool comes_back(const Draft& draft, const std::vector<DraftId>& end, DraftId d) {
  std::vector<bool> met(draft.values.size(), false);
  std::vector<DraftId> work = {d};
  bool found = false;
  const auto need = [&](DraftId v) {
    v = end[v.index];
    found = found || v == d;
    if (met[v.index]) return;
    met[v.index] = true;
    work.push_back(v);
  };
  while (!work.empty() && !found) {
    const DraftId v = work.back();
    work.pop_back();
    if (const auto* f = std::get_if<Fby>(&draft[v].rhs))
      need(f->init);
    else
      for_each_mention(draft[v].rhs, need);
    for (DraftClockId c = draft[v].clock; draft.clocks[c.index].parent.valid(); c = draft.clocks[c.index].parent)
      need(draft.clocks[c.index].condition);
  }
  return found;
}

}  // namespace rml::draft
