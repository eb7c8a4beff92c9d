// Tables of items that all instances of a draft share.
#include "semantics/instantiate/writer.h"

#include <algorithm>

namespace rml::draft {

DraftWriter::DraftWriter(const Checked& c, const InstantiateOptions& options, const InstantiateBody& body, Depth d,
                         Diagnostics& reported)
    : checked(c), instantiate_body(body), depth(d), diagnostics(reported), tunable_(options.tunable) {
  for (const ConstOverride& replaced : options.overrides) replacements_[replaced.constant.index] = replaced.value;
  draft.clocks.resize(2);
  draft.most_elements = options.limits.elements;
}

DraftClockId DraftWriter::on(DraftClockId parent, DraftId condition, bool positive) {
  const auto [known, is_new] =
      clocks_.try_emplace(ClockKey{parent.index, condition.index, positive}, draft.clocks.size());
  if (is_new) draft.clocks.push_back({parent, condition, positive});
  return known->second;
}

DraftId& DraftWriter::constant(ConstId id, DType dtype, DraftClockId clock) {
  return constants_[std::uint64_t{id.index} << 40 | std::uint64_t{static_cast<std::uint8_t>(dtype)} << 32 |
                    clock.index];
}

bool DraftWriter::is_tunable(ConstId id) const { return std::ranges::find(tunable_, id) != tunable_.end(); }

ExprId DraftWriter::replacement(ConstId id) const {
  const auto found = replacements_.find(id.index);
  return found != replacements_.end() ? found->second : ExprId{};
}

const std::string& DraftWriter::identity(NodeId node, ExprId call) {
  const auto [known, is_new] = identities_.try_emplace(node.index);
  if (is_new) known->second = call_identities(program(), checked.names, node);
  return known->second.at(call.index);
}

std::string DraftWriter::qualified(InstanceId instance, const std::string& name) const {
  if (!instance.valid()) return name;
  const std::string& path = draft.instances[instance.index].path;
  return path.empty() || name.empty() ? path + name : path + "." + name;
}

std::string DraftWriter::outermost_derived(InstanceId i) const {
  const auto at = [&](InstanceId k) -> const Instance& { return draft.instances[k.index]; };
  while (at(i).parent.valid() && at(at(i).parent).derived) i = at(i).parent;
  const bool goes_on = !at(i).parent.valid() && !called_at.derived.empty();
  return goes_on ? called_at.derived : at(i).path;
}

}  // namespace rml::draft
