// Simplification of a core: fewer values, and computation only where it is needed.
//
// Sinking precedes sharing: `if c then a / n else 0` must divide only if c holds, and a division
// shared by two such branches could sink into neither. So values that can fail are shared only
// when nothing sinks any more. An operator that can fail and was needed at first remains, even if
// its result becomes unused.
//
//   %3 = div %1 %2          %5 = when %0 %1    %6 = when %0 %2
//   %4 = when %0 %3         %4 = div %5 %6     (on c)
#include <algorithm>
#include <cassert>
#include <utility>

#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"
#include "semantics/simplify/simplify.h"

namespace rml {

namespace {

// One round may enable another. The result of the last round is correct, though perhaps not
// simplest.
constexpr int max_rounds = 16;

std::vector<ValueId> root_values(const Core& core, bool keep_watches) {
  std::vector<ValueId> roots;
  for (const Port& port : core.inputs) roots.push_back(port.value);
  for (const ValueId result : results(core)) roots.push_back(result);
  if (keep_watches)
    for (const Port& port : core.watches) roots.push_back(port.value);
  return roots;
}

std::vector<bool> initial_effects(const Core& core, const std::vector<ValueId>& roots) {
  std::vector<bool> effects = reachable(core, roots);
  for (std::size_t v = 0; v < core.values.size(); ++v) {
    effects[v] = effects[v] && can_fail(core, ValueId(v));
  }
  return effects;
}

// True if all indices are constants in range.
bool never_fails(const Core& core, const core::Apply& a) {
  const Lowering lowering = operators()[a.op].lowering;
  if (lowering != Lowering::place) return false;
  const Shape& whole = a.attributes[0].integers;
  for (std::size_t k = 1; k < a.operands.size(); ++k) {
    const auto* at = std::get_if<core::Const>(&core[a.operands[k]].rhs);
    if (at == nullptr || at->value.integers()[0] < 0 || at->value.integers()[0] >= whole[k - 1]) return false;
  }
  return true;
}

class Simplification {
 public:
  Simplification(Core& core, const SimplifyOptions& options)
      : core_(core), options_(options), effects_(initial_effects(core, root_values(core, options.keep_watches))) {}

  void run() {
    remove_dead();
    for (const bool share_effects : {false, true}) {
      // All effects are shared already, so there is nothing to do.
      if (share_effects && std::ranges::find(effects_, true) == effects_.end()) break;
      for (int round = 0; round < max_rounds; ++round) {
        const bool sunk = sink(core_, effects_, root_values(core_, options_.keep_watches));
        if (sunk) remove_dead();
        // The following folding updates clocks whose condition became a constant.
        bool found = find_truths(core_);
        found = stop_rings(core_) || found;
        const bool shared = fold_clocks_too(share_effects);
        const bool held = share_holds(core_);
        if (held) remove_dead();
        if (!sunk && !shared && !held && !found) break;
      }
    }
    split_posts(core_);
    effects_.resize(core_.values.size(), false);
    remove_dead();
  }

 private:
  // A condition on a cycle may become a constant after the walk has visited the values that it
  // samples; that takes another walk. No walk creates a Boolean scalar that is not constant, so
  // each such walk reduces their number. If the number is the same, nothing became constant and
  // the loop ends.
  bool fold_clocks_too(bool share_effects) {
    bool changed = false;
    bool again = true;
    for (std::size_t open = open_conditions(); again && fold_and_share(core_, effects_, share_effects);) {
      changed = true;
      drop_dead();
      const std::size_t before = std::exchange(open, open_conditions());
      again = open < before &&
              std::ranges::any_of(
                  core_.clocks, [&](const Clock& c) { return c.condition.valid() && core_.is_const(c.condition); });
    }
    assert(verify(core_).empty());
    return changed;
  }

  // The number of Boolean scalars that may be conditions of clocks.
  std::size_t open_conditions() const {
    return static_cast<std::size_t>(std::ranges::count_if(core_.values, [](const Value& v) {
      return v.dtype == DType::boolean && v.shape.empty() && !std::holds_alternative<core::Const>(v.rhs);
    }));
  }

  void remove_dead() {
    drop_dead();
    assert(verify(core_).empty());
  }

  void drop_dead() {
    std::vector<ValueId> roots = root_values(core_, options_.keep_watches);
    effects_.resize(core_.values.size(), false);
    for (std::size_t v = 0; v < effects_.size(); ++v) {
      const auto* apply = effects_[v] ? apply_of(core_, ValueId{v}) : nullptr;
      if (apply != nullptr && never_fails(core_, *apply)) effects_[v] = false;
    }
    for (std::size_t v = 0; v < effects_.size(); ++v)
      if (effects_[v]) roots.push_back(ValueId{v});
    renumber(core_, reachable(core_, std::move(roots)), &effects_);
  }

  Core& core_;
  const SimplifyOptions& options_;
  std::vector<bool> effects_;
};

}  // namespace

// Guards are facts about one use of a post, so each user of a post gets its own.
void split_posts(Core& core) {
  std::vector<bool> taken = conditions(core);
  for (const ValueId root : root_values(core, true)) taken[root.index] = true;
  const std::size_t count = core.values.size();
  for (std::size_t v = 0; v < count; ++v) {
    core::Rhs rhs = std::move(core.values[v].rhs);  // moved out, because adding values may move the vector
    // Leaves conditions unchanged, because clocks refer to them.
    const ValueId* condition = nullptr;
    if (const auto* when = std::get_if<core::When>(&rhs)) condition = &when->condition;
    if (const auto* merge = std::get_if<core::Merge>(&rhs)) condition = &merge->condition;
    for_each_operand(rhs, [&](ValueId& operand) {
      if (&operand == condition || !std::holds_alternative<core::Post>(core[operand].rhs)) return;
      if (taken[operand.index]) {
        core.values.push_back(Value(core[operand]));
        operand = ValueId{core.values.size() - 1};
      } else {
        taken[operand.index] = true;
      }
    });
    core.values[v].rhs = std::move(rhs);
  }
}

Core drop_unneeded(Core core) {
  const auto drop = [](Core& of) { renumber(of, reachable(of, root_values(of, false))); };
  change_bodies(core, drop);
  drop(core);
  return core;
}

Core simplify(Core core, const SimplifyOptions& options) {
  Simplification(core, options).run();
  return core;
}

}  // namespace rml
