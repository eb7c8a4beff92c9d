// Instantiation in four steps, each with its own files: elaboration inlines all nodes into
// drafts; aliases are resolved; shapes and static values are solved; the rest is emitted.
//
//   node counter() -> (o) o = 0 fby u; u = o + 1;
//     %0 = const 0    %1 = fby %0 %3    %2 = const 1    %3 = add %1 %2
#include "semantics/instantiate/instantiate.h"

#include "semantics/instantiate/aliases.h"
#include "semantics/instantiate/check_assertions.h"
#include "semantics/instantiate/elaborate.h"
#include "semantics/instantiate/emit.h"
#include "semantics/instantiate/solve_shapes.h"
#include "semantics/instantiate/warn_of_pairs.h"

namespace rml {

namespace {

using draft::Alias;
using draft::Depth;
using draft::Draft;
using draft::Elaboration;
using draft::Given;
using draft::InstantiateBody;
using draft::States;

// A draft, and the states of its values after aliases are resolved and shapes solved.
struct Solved {
  Draft draft;
  States states;
};

// Instantiates the entry of a program, and the bodies of its iterations once their operands are
// known.
class Instantiation {
 public:
  Instantiation(const Checked& checked, const InstantiateOptions& options)
      : checked_(checked),
        options_(options),
        instantiate_body_([this](NodeId node, const Given& given, Depth depth, Diagnostics& diagnostics) {
          return instantiate(node, &given, depth, diagnostics);
        }) {}
  Instantiation(const Instantiation&) = delete;
  Instantiation& operator=(const Instantiation&) = delete;

  // Nothing if a limit is exceeded.
  std::optional<Solved> solve(NodeId node, const Given* given, Depth depth, Diagnostics& diagnostics) {
    Solved solved{elaborate({checked_, options_, instantiate_body_, node, given, depth}, whole_, diagnostics), {}};
    if (whole_.excess) return std::nullopt;
    resolve_aliases(solved.draft, *checked_.program, diagnostics);
    solved.states = solve_shapes(solved.draft, *checked_.program, diagnostics);
    if (diagnostics.has_errors() || solved.draft.open) return solved;
    warn_of_pairs(solved.draft, *checked_.program, solved.states, diagnostics);
    check_assertions(solved.draft, *checked_.program, solved.states, diagnostics);
    return solved;
  }

  // Nothing if there are errors.
  std::optional<Core> instantiate(NodeId node, const Given* given, Depth depth, Diagnostics& diagnostics) {
    const std::optional<Solved> solved = solve(node, given, depth, diagnostics);
    if (!solved || diagnostics.has_errors()) return std::nullopt;
    Core core = emit(solved->draft, solved->states, *checked_.program, given != nullptr, diagnostics);
    return diagnostics.has_errors() ? std::nullopt : std::optional(std::move(core));
  }

 private:
  const Checked& checked_;
  const InstantiateOptions& options_;
  const InstantiateBody instantiate_body_;
  Elaboration whole_;
};

// The number after `by` if no sum of the program gives it: a literal, or the value of a constant.
std::optional<std::int64_t> written_count(const Program& program, const ast::Deal& deal, ModuleId module) {
  if (!deal.count.valid()) return 1;
  ExprId e = deal.count;
  if (const auto* name = std::get_if<ast::Name>(&program[e]); name != nullptr && !name->qualifier.valid())
    for (const ConstId c : program.modules[module.index].consts)
      if (program.consts[c.index].name == name->symbol) e = program.consts[c.index].value;
  const auto* number = std::get_if<ast::IntLiteral>(&program[e]);
  return number != nullptr ? std::optional(static_cast<std::int64_t>(number->value)) : std::nullopt;
}

// How the source deals the rows of the entry; nothing if it has no dealt inputs.
std::optional<DealtRows> dealt_rows(const Program& program, const ast::Node& entry, const Core& core) {
  const ast::Deal* const deal = entry.deal();
  if (deal == nullptr) return std::nullopt;
  DealtRows dealt{0, written_count(program, *deal, entry.module), deal->span};
  for (std::uint32_t i = 0; i < core.inputs.size(); ++i)
    if (core.inputs[i].name == program.text(deal->end)) dealt.end = i;
  return dealt;
}

}  // namespace

Core instantiate(const Checked& checked, NodeId entry, const InstantiateOptions& options, Diagnostics& diagnostics) {
  std::optional<Core> made;
  if (!diagnostics.has_errors()) made = Instantiation(checked, options).instantiate(entry, nullptr, {}, diagnostics);
  Core core;
  core.clocks.resize(2);
  if (made) core = std::move(*made);
  const Program& program = *checked.program;
  core.entry = program.text(program[entry].name);
  if (made) core.dealt = dealt_rows(program, program[entry], core);
  return core;
}

bool check_open(const Checked& checked, NodeId node, InstantiateOptions options, Diagnostics& diagnostics) {
  options.open = true;
  Instantiation instantiation(checked, options);
  const auto solved = instantiation.solve(node, nullptr, {}, diagnostics);
  if (!solved) return false;
  for (std::size_t v = 0; v < solved->states.size(); ++v)
    if (!solved->states[v].known && !std::holds_alternative<Alias>(solved->draft.values[v].rhs)) return false;
  return true;
}

}  // namespace rml
