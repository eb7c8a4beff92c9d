// Paths of tests, and blocks that share branches between neighbours.
#include "lowering/step_writer.h"

#include <algorithm>

namespace rml {

namespace {

bool same_test(const steps::Test& a, const steps::Test& b) {
  return a.kind == b.kind && (a.kind != steps::Test::value || a.condition == b.condition);
}

// The branch that a statement under `test` may join. A copy may go before stores of what
// earlier statements computed.
steps::Branch* open_branch(steps::Block& block, const steps::Test& test, bool before_stores) {
  constexpr std::size_t farthest = 8;
  std::size_t at = block.statements.size();
  for (std::size_t passed = 0; at > 0 && before_stores && passed < farthest; ++passed, --at) {
    const steps::Statement& s = block.statements[at - 1];
    if (!std::holds_alternative<steps::StoreCell>(s) && !std::holds_alternative<steps::StoreOutput>(s)) break;
  }
  if (at == 0) return nullptr;
  auto* branch = std::get_if<steps::Branch>(&block.statements[at - 1]);
  return branch != nullptr && same_test(branch->test, test) ? branch : nullptr;
}

}  // namespace

void StepWriter::write(const TestPath& path, steps::Statement s) {
  steps::Block* at = &block_;
  const bool copy = std::holds_alternative<steps::Copy>(s);
  for (const steps::Test& t : path) {
    steps::Branch* last = open_branch(*at, t, copy);
    if (last == nullptr) {
      steps::Test test = t;
      test.positive = true;
      at->statements.emplace_back(
          steps::Branch{test, std::make_unique<steps::Block>(), std::make_unique<steps::Block>()});
      last = &std::get<steps::Branch>(at->statements.back());
    }
    at = t.positive ? last->then_block.get() : last->else_block.get();
  }
  at->statements.push_back(std::move(s));
}

TestPath clock_path(const Core& core, ClockId unit, ClockId value) {
  TestPath path;
  for (ClockId c = value; c != unit && core[c].parent.valid(); c = core[c].parent)
    path.push_back({steps::Test::value, core[c].condition, core[c].positive});
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<TestPath> class_paths(std::uint8_t classes) {
  using steps::Test;
  auto first = [](bool p) { return Test{Test::first, {}, p}; };
  auto last = [](bool p) { return Test{Test::last, {}, p}; };
  if (classes == any_instant) return {{}};
  if (classes == (last_instant | single_instant)) return {{last(true)}};
  if (classes == (first_instant | interior_instant)) return {{last(false)}};
  std::vector<TestPath> paths;
  auto side = [&](bool leads, std::uint8_t open, std::uint8_t closed) {
    const bool o = (classes & open) != 0;
    const bool c = (classes & closed) != 0;
    if (o && c)
      paths.push_back({first(leads)});
    else if (o || c)
      paths.push_back({first(leads), last(c)});
  };
  side(true, first_instant, single_instant);
  side(false, interior_instant, last_instant);
  return paths;
}

bool kept(const Core& core, ValueId v, ValueId memory) {
  while (v != memory) {
    const auto* w = std::get_if<core::When>(&core[v].rhs);
    if (w == nullptr) return false;
    v = w->operand;
  }
  return true;
}

Change what_changes(const Core& core, ValueId memory, ValueId next) {
  Change change{{}, next};
  while (!kept(core, change.next, memory)) {
    const auto* m = std::get_if<core::Merge>(&core[change.next].rhs);
    if (m == nullptr || (!kept(core, m->on_true, memory) && !kept(core, m->on_false, memory))) return change;
    const bool positive = !kept(core, m->on_true, memory);
    change.where.push_back({steps::Test::value, m->condition, positive});
    change.next = positive ? m->on_true : m->on_false;
  }
  change.next = {};
  return change;
}

TestPath operator+(TestPath a, const TestPath& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace rml
