// Numbers for the contents of memories (places.h).
//
// Method: colour refinement, as in tests for graph isomorphism. Each memory has a colour. The
// colour of any other value is computed from its operator and the colours of its operands. Each
// round recolours each memory by its initial value and its next value. Memories that differ
// within rounds_of_colours steps get different colours. Operands of operators in has_any_order
// are sorted, since their order may be that of the equations.
#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "semantics/time/places.h"

namespace rml {

namespace {

constexpr int rounds_of_colours = 6;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  a = (a ^ (a >> 30)) * 0xbf58476d1ce4e5b9u;
  a = (a ^ (a >> 27)) * 0x94d049bb133111ebu;
  return a ^ (a >> 31);
}

std::uint64_t hash_of(const void* bytes, std::size_t count, std::uint64_t from) {
  const auto* const at = static_cast<const unsigned char*>(bytes);
  for (std::size_t k = 0; k < count; ++k) from = (from ^ at[k]) * 0x100000001b3u;
  return mixed(from, count);
}
std::uint64_t hash_of(std::string_view text, std::uint64_t from) { return hash_of(text.data(), text.size(), from); }

bool has_any_order(std::string_view op) {
  static const std::set<std::string_view> all = {"add",         "mul",     "minimum",     "maximum",
                                                 "eq",          "ne",      "logical_and", "logical_or",
                                                 "logical_xor", "bit_and", "bit_or",      "bit_xor"};
  return all.contains(op);
}

class Colours {
 public:
  Colours(const Core& core, InputNames names)
      : core_(core), names_(names), memory_(core.values.size(), 1), done_(core.values.size()) {}

  std::map<ValueId, std::uint64_t> of(const std::vector<ValueId>& memories) {
    std::vector<ValueId> all;
    for (std::size_t i = 0; i < core_.values.size(); ++i)
      if (is_delay(ValueId{i})) all.push_back(ValueId{i});
    for (const ValueId v : all) memory_[v.index] = of_itself(v);
    for (int round = 0; round < rounds_of_colours; ++round) {
      std::fill(done_.begin(), done_.end(), std::uint64_t{0});
      std::vector<std::uint64_t> next;
      for (const ValueId v : all) next.push_back(of_operands(v));
      for (std::size_t k = 0; k < all.size(); ++k) memory_[all[k].index] = next[k];
    }
    std::map<ValueId, std::uint64_t> found;
    for (const ValueId v : memories) found[v] = memory_[v.index];
    return found;
  }

 private:
  bool is_delay(ValueId v) const {
    return std::holds_alternative<core::Fby>(core_[v].rhs) || std::holds_alternative<core::Post>(core_[v].rhs);
  }

  std::uint64_t of_itself(ValueId v) const {
    const Value& value = core_[v];
    std::uint64_t n = mixed(value.rhs.index() + 1, static_cast<std::uint64_t>(value.dtype));
    for (const auto extent : value.shape) n = mixed(n, static_cast<std::uint64_t>(extent));
    if (const auto* c = std::get_if<core::Const>(&value.rhs)) n = hash_of(c->value.data(), c->value.bytes(), n);
    if (const auto* i = std::get_if<core::Input>(&value.rhs); i != nullptr && names_ == InputNames::count)
      n = hash_of(i->index < core_.inputs.size() ? core_.inputs[i->index].name : "", n);
    if (const auto* r = std::get_if<core::Result>(&value.rhs)) n = mixed(n, r->output);
    if (const auto* w = std::get_if<core::When>(&value.rhs)) n = mixed(n, w->positive ? 1 : 0);
    if (const auto* c = std::get_if<core::Call>(&value.rhs)) n = hash_of(core_.externals[c->external].symbol, n);
    const auto* a = std::get_if<core::Apply>(&value.rhs);
    if (a == nullptr) return n;
    n = hash_of(operators()[a->op].name, n);
    for (const Attribute& attribute : a->attributes) {
      n = mixed(n, attribute.given ? 1 : 0);
      for (const std::int64_t i : attribute.integers) n = mixed(n, static_cast<std::uint64_t>(i));
      n = hash_of(&attribute.number, sizeof attribute.number, n);
      n = hash_of(attribute.text, mixed(n, static_cast<std::uint64_t>(attribute.dtype)));
    }
    return n;
  }

  std::uint64_t known(ValueId v) const { return is_delay(v) ? memory_[v.index] : done_[v.index]; }

  std::uint64_t combined(ValueId v) const {
    std::vector<std::uint64_t> parts;
    const core::Rhs& rhs = core_[v].rhs;
    for_each_operand(rhs, [&](const ValueId& o) { parts.push_back(known(o)); });
    if (const auto* a = std::get_if<core::Apply>(&rhs); a != nullptr && has_any_order(operators()[a->op].name))
      std::ranges::sort(parts);
    std::uint64_t n = of_itself(v);
    for (const std::uint64_t part : parts) n = mixed(n, part);
    return n == 0 ? 1 : n;
  }

  // Colours operands first, with an explicit stack, since expressions may be deep.
  std::uint64_t of_operands(ValueId memory) {
    std::vector<ValueId> open;
    const auto visit = [&](ValueId v) {
      if (!is_delay(v) && done_[v.index] == 0) open.push_back(v);
    };
    for_each_operand(core_[memory].rhs, [&](const ValueId& o) { visit(o); });
    while (!open.empty()) {
      const ValueId v = open.back();
      const std::size_t before = open.size();
      if (done_[v.index] == 0) for_each_operand(core_[v].rhs, [&](const ValueId& o) { visit(o); });
      if (open.size() > before) continue;
      open.pop_back();
      if (done_[v.index] == 0) done_[v.index] = combined(v);
    }
    return combined(memory);
  }

  const Core& core_;
  const InputNames names_;
  std::vector<std::uint64_t> memory_;  // one per value: colour of a delay
  std::vector<std::uint64_t> done_;    // one per value: colour of another value in this round; 0: not computed yet
};

}  // namespace

std::map<ValueId, std::uint64_t> contents(const Core& core, const std::vector<ValueId>& memories, InputNames names) {
  return Colours(core, names).of(memories);
}

}  // namespace rml
