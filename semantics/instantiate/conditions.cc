// Value numbering of conditions.
#include "semantics/instantiate/conditions.h"

#include "semantics/simplify/passes.h"
#include "semantics/values/overloaded.h"

namespace rml::draft {

namespace {

std::string text(const Attribute& a) {
  std::string s = a.given ? a.scalar ? "s" : "v" : "-";
  for (const std::int64_t i : a.integers) s += std::to_string(i) + ",";
  return s + std::to_string(a.number) + "," + std::to_string(static_cast<int>(a.dtype)) + " ";
}

}  // namespace

SameConditions::Condition SameConditions::peel(DraftId d, bool positive) const {
  static const OperatorId logical_not = operators().require("logical_not");
  for (;;) {
    d = end_[d.index];
    if (constant(d) != nullptr) return {d, constant(d)->truth() == positive, true};
    if (const auto* when = std::get_if<When>(&draft_[d].rhs)) {
      d = when->operand;
      continue;
    }
    const auto* a = std::get_if<Apply>(&draft_[d].rhs);
    if (a == nullptr || a->op != logical_not) return {d, positive, false};
    d = a->operands[0];
    positive = !positive;
  }
}

std::uint32_t SameConditions::number(DraftId d) {
  d = end_[d.index];
  if (const auto known = numbers_.find(d.index); known != numbers_.end()) return known->second;
  const auto own = static_cast<std::uint32_t>(shared_.size());
  shared_.emplace("own " + std::to_string(d.index), own);
  numbers_[d.index] = own;  // preliminary number, which ends the recursion in expressions with cycles
  const bool same = constant(d) == nullptr;
  if (const auto* w = std::get_if<When>(&draft_[d].rhs); same && w) return numbers_[d.index] = number(w->operand);
  if (const auto* x = std::get_if<Declared>(&draft_[d].rhs); same && x) return numbers_[d.index] = number(x->operand);
  const std::string tree = key(d);
  if (tree.empty()) return own;
  return numbers_[d.index] = shared_.emplace(tree, own).first->second;
}

// A key of the computation; empty if no other computation may be equal to it.
std::string SameConditions::key(DraftId d) {
  if (constant(d) != nullptr) return "const " + constant_key(*constant(d));
  const Value& value = draft_[d];
  const std::string of = std::to_string(static_cast<int>(value.dtype)) + " ";
  const auto optional = [&](DraftId part) { return part.valid() ? text(part) : std::string("- "); };
  return std::visit(Overloaded{
                        [&](const Merge& m) {
                          if (!m.from_if) return std::string();
                          return "if " + of + text(m.condition) + text(m.on_true) + text(m.on_false);
                        },
                        [&](const Index& x) {
                          std::string s = "index " + text(x.operand);
                          for (const Item& i : x.items)
                            s += (i.is_range ? "range " : "at ") + optional(i.at) + optional(i.lower) +
                                 optional(i.upper) + optional(i.step);
                          return s;
                        },
                        [&](const Apply& a) {
                          if (operators()[a.op].random) return std::string();
                          std::string s = "apply " + std::to_string(a.op) + " " + of;
                          for (const DraftId o : a.operands) s += text(o);
                          const auto attributes = rules_.attributes(a);
                          for (const Attribute& x : std::get<std::vector<Attribute>>(attributes)) s += draft::text(x);
                          return s;
                        },
                        [](const auto&) { return std::string(); },
                    },
                    value.rhs);
}

}  // namespace rml::draft
