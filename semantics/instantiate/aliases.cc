// Resolves aliases in time linear in the number of values.
//
//   y = f(x); node f(a) -> (b) b = a + 1;      y -> b of f -> add %x 1
//   x = y; y = x;                              E0501
#include "semantics/instantiate/aliases.h"

#include <algorithm>

namespace rml::draft {

std::vector<DraftId> follow(std::size_t values, const std::function<DraftId(DraftId)>& next,
                            const std::function<void(const std::vector<DraftId>&)>& on_cycle) {
  std::vector<DraftId> end(values);
  std::vector<std::uint32_t> visit(values, 0);  // number of the walk that visited the value
  std::vector<DraftId> path;
  for (std::uint32_t v = 0; v < values; ++v) {
    path.clear();
    DraftId at{v};
    DraftId found;
    for (;;) {
      if (end[at.index].valid()) {
        found = end[at.index];
        break;
      }
      if (visit[at.index] == v + 1) {
        on_cycle({std::find(path.begin(), path.end(), at), path.end()});
        found = at;
        break;
      }
      visit[at.index] = v + 1;
      path.push_back(at);
      const DraftId to = next(at);
      if (!to.valid()) {
        found = at;
        break;
      }
      at = to;
    }
    for (const DraftId d : path) end[d.index] = found;
  }
  return end;
}

namespace {

std::string quoted_name(const Draft& draft, DraftId d) {
  return draft[d].name.empty() ? std::string("this value") : "`" + draft[d].name + "`";
}

std::vector<DraftId> named_ones(const Draft& draft, const std::vector<DraftId>& cycle) {
  std::vector<DraftId> named;
  for (const DraftId d : cycle)
    if (!draft[d].name.empty()) named.push_back(d);
  return named.empty() ? cycle : named;
}

}  // namespace

void report_alias_cycle(const Draft& draft, const Program& program, const std::vector<DraftId>& cycle,
                        Diagnostics& diagnostics) {
  const std::vector<DraftId> named = named_ones(draft, cycle);
  const auto name = [&](DraftId d) { return quoted_name(draft, d); };
  Diagnostic& d =
      diagnostics.report(Code::E0501, draft[named[0]].span, name(named[0]) + " is defined in terms of itself",
                         named.size() == 1 ? "same cycle" : name(named[0]) + " is " + name(named[1]) + ", same cycle");
  for (std::size_t k = 1; k < named.size(); ++k)
    d.label(draft[named[k]].span, name(named[k]) + " is " + name(named[(k + 1) % named.size()]) + ", same cycle");
  d.note("break the cycle with a delay: `init fby …` takes the value of the previous cycle");
  add_instance_chain(d, draft, program, draft[named[0]].instance);
}

void report_value_cycle(const Draft& draft, const Program& program, const std::vector<DraftId>& cycle,
                        Diagnostics& diagnostics) {
  const std::vector<DraftId> named = named_ones(draft, cycle);
  const auto name = [&](DraftId d) { return quoted_name(draft, d); };
  Diagnostic& d =
      diagnostics.report(Code::E0501, draft[named[0]].span, name(named[0]) + " needs its own value of the same cycle",
                         "defined in terms of itself");
  for (std::size_t k = 0; k < named.size(); ++k) {
    const std::string hop = name(named[k]) + " needs " + name(named[(k + 1) % named.size()]) + " at the same cycle";
    d.label(draft[named[k]].span, hop);
    d.note(hop);
  }
  add_instance_chain(d, draft, program, draft[named[0]].instance);
  d.note("break the cycle with a delay: `init fby …` takes the value of the previous cycle");
}

namespace {

void make_constant(Value& value) { value.rhs = Const{std::make_shared<const Tensor>(value.dtype, Shape{})}; }

void break_cycles(Draft& draft, const Program& program, Diagnostics& diagnostics) {
  std::vector<DraftId> broken;
  const auto stands_for = [&](DraftId d) {
    if (const auto* alias = std::get_if<Alias>(&draft[d].rhs)) return alias->target;
    if (const auto* declared = std::get_if<Declared>(&draft[d].rhs)) return declared->operand;
    return DraftId{};
  };
  follow(draft.values.size(), stands_for, [&](const std::vector<DraftId>& cycle) {
    report_alias_cycle(draft, program, cycle, diagnostics);
    broken.push_back(cycle[0]);
  });
  for (const DraftId d : broken) make_constant(draft[d]);
}

}  // namespace

void resolve_aliases(Draft& draft, const Program& program, Diagnostics& diagnostics) {
  break_cycles(draft, program, diagnostics);
  for (Value& value : draft.values) {
    const auto* alias = std::get_if<Alias>(&value.rhs);
    if (alias != nullptr && !alias->target.valid()) make_constant(value);
  }
  const auto target = [&](DraftId d) {
    const auto* alias = std::get_if<Alias>(&draft[d].rhs);
    return alias != nullptr ? alias->target : DraftId{};
  };
  const std::vector<DraftId> end = follow(draft.values.size(), target, [](const std::vector<DraftId>&) {});
  const auto resolve = [&](DraftId& d) { d = end[d.index]; };
  for (Value& value : draft.values) for_each_mention(value.rhs, resolve);
  for (DraftClock& clock : draft.clocks)
    if (clock.condition.valid()) resolve(clock.condition);
  for (auto* list : {&draft.inputs, &draft.outputs, &draft.parameters, &draft.watches})
    for (NamedValue& named : *list) resolve(named.value);
  for (Assertion& assertion : draft.asserts) resolve(assertion.condition);
  for (CallSite& call : draft.calls) std::ranges::for_each(call.arguments, resolve);
  for (External& external : draft.externals)
    for (auto* shapes : {&external.input_shapes, &external.output_shapes})
      for (auto& shape : *shapes)
        for (DraftId& extent : shape) resolve(extent);
}

}  // namespace rml::draft
