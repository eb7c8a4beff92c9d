// The passes of simplify, each from core to core, and what they share.
//
// Every pass keeps the invariants of core.h; simplify (simplify.cc) says in which order
// they run and how often.
#pragma once

#include <unordered_map>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/values/truth.h"

namespace rml {

// Folds constants, applies exact identities and shares equal values (simplify/share.cc).
// `effects`, by value, marks what must stay for its failure; it follows the values. Such
// values are shared only if share_effects: before that each may still sink below its own
// sampling. Returns whether anything changed.
bool fold_and_share(Core& core, std::vector<bool>& effects, bool share_effects);

// One step of it: what a value with canonical operands is equal to, if anything
// (simplify/fold.cc). Nothing: it stays. A value id: it is that value. A constant: it is
// that, wherever it is present.
struct Folded {
  ValueId value;
  std::optional<Tensor> constant;
};
Folded fold(const Core& core, ValueId v);
// What an operator gives of these operands, if they are constants and it is worth while.
std::optional<Tensor> evaluate_constants(const Core& core, const Value& value, const core::Apply& apply);

// Another right-hand side for a value, that says the same with less (simplify/rewrite.cc).
std::optional<core::Rhs> simpler(const Core& core, ValueId v);
// A transposition of a transposition: axis k of v is axis axes[k] of the operand.
struct Transposed {
  ValueId operand;
  std::vector<std::size_t> axes;
};
std::optional<Transposed> transposed_twice(const Core& core, ValueId v);
// The operand in another shape of as many elements.
core::Rhs reshaped(ValueId operand, const Shape& shape);

// Moves pure pointwise work below the samplings that are all that use it
// (simplify/sink.cc). Returns whether anything changed.
bool sink(Core& core, std::vector<bool>& effects, const std::vector<ValueId>& roots);

// Lets a delay on a sub-clock read the cell that holds its value on the clock above
// (simplify/hold.cc). Returns whether anything changed.
bool share_holds(Core& core);

// By value: which Booleans are the same at every instant at which they have a value (simplify/truth.cc).
std::vector<Truth> steady_truths(const Core& core);
// What a Boolean operator gives, if each operand is a constant or can be one alone, whichever branches are taken and
// however long it is delayed.
std::optional<bool> settled_truth(const Core& core, const Value& value, const core::Apply& apply);
// Replaces Booleans that are the same at every instant by constants (simplify/truth.cc).
// Returns whether anything changed.
bool find_truths(Core& core);
// Makes constants of conditions that never hold where something on their clock may need itself (simplify/truth.cc).
// Returns whether anything changed.
bool stop_rings(Core& core);

// Gives each user of a `post` a post of its own (simplify.cc).
void split_posts(Core& core);

// Keeps the marked values only, numbered so that operands come before their users (but for
// what fby and post fetch from other cycles), with the clocks they need. Ports, watches and
// parameters of dropped values go; `effects` follows.
void renumber(Core& core, const std::vector<bool>& keep, std::vector<bool>* effects = nullptr);

// Interned clocks of a core: one id for each (parent, condition, polarity).
class ClockTable {
 public:
  explicit ClockTable(Core& core);
  ClockId on(ClockId parent, ValueId condition, bool positive);

 private:
  struct Key {
    std::uint32_t parent, condition;
    bool positive;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      return (std::uint64_t{k.parent} << 32 | k.condition) * 0x9e3779b97f4a7c15u + k.positive;
    }
  };
  Core& core_;
  std::unordered_map<Key, ClockId, Hash> table_;
};

// A key for tables of constants: equal ones have the same. Of different ones only the small differ for sure.
std::string constant_key(const Tensor& tensor);

}  // namespace rml
