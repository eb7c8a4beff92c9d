// Writes statements under paths of tests. Neighbours with the same tests share branches.
#include "lowering/steps/step_writer.h"

#include <algorithm>

namespace rml {

namespace {

bool same_test(const steps::Test& a, const steps::Test& b) {
  return a.kind == b.kind && (a.kind != steps::Test::value || a.condition == b.condition);
}

// The branch that a statement under `test` may join. A copy may move before stores of values that earlier statements
// computed.
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

bool writes(const steps::Statement&, CellId, ArrayId);
bool writes(const steps::Block& block, CellId cell, ArrayId array) {
  return std::ranges::any_of(block.statements, [&](const steps::Statement& s) { return writes(s, cell, array); });
}
bool writes(const steps::Statement& s, CellId cell, ArrayId array) {
  if (const auto* b = std::get_if<steps::Branch>(&s))
    return writes(*b->then_block, cell, array) || writes(*b->else_block, cell, array);
  const auto* to_cell = std::get_if<steps::StoreCell>(&s);
  const auto* to_array = std::get_if<steps::StoreArray>(&s);
  return (to_cell != nullptr && to_cell->cell == cell) || (to_array != nullptr && to_array->array == array) ||
         std::holds_alternative<steps::MoveCell>(s);
}

// A load is placed before branches, so that the branches on one test before and after it become neighbours.
std::size_t place_of(const steps::Statement& s, const steps::Block& block) {
  std::size_t at = block.statements.size();
  const auto* cell = std::get_if<steps::LoadCell>(&s);
  const auto* array = std::get_if<steps::LoadArray>(&s);
  if (cell == nullptr && array == nullptr) return at;
  while (at > 0 && std::holds_alternative<steps::Branch>(block.statements[at - 1]) &&
         !writes(block.statements[at - 1], cell == nullptr ? CellId() : cell->cell,
                 array == nullptr ? ArrayId() : array->array))
    --at;
  return at;
}

}  // namespace

bool StepWriter::simplify(TestPath& path) const {
  TestPath once;
  for (const steps::Test& given : path) {
    const steps::Test t = rename_ ? rename_(given) : given;
    const auto at = std::ranges::find_if(once, [&](const steps::Test& o) { return same_test(o, t); });
    if (at == once.end())
      once.push_back(t);
    else if (at->positive != t.positive)
      return false;
  }
  path = std::move(once);
  return true;
}

void StepWriter::write(const TestPath& where, steps::Statement s) {
  TestPath path = where;
  if (!simplify(path)) return;
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
  const auto place = static_cast<std::ptrdiff_t>(place_of(s, *at));
  at->statements.insert(at->statements.begin() + place, std::move(s));
}

TestPath tests(const std::vector<Literal>& literals) {
  TestPath path;
  for (const Literal& l : literals) path.push_back({steps::Test::value, l.condition, l.positive});
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

TestPath operator+(TestPath a, const TestPath& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace rml
