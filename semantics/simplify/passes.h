// The passes of simplify, each from core to core, and the functions that they share.
//
// Every pass keeps the invariants of core.h. simplify.cc determines their order and repetition.
#pragma once

#include <unordered_map>
#include <vector>

#include "semantics/core/core.h"
#include "semantics/values/truth.h"

namespace rml {

// Folds constants, applies exact identities and shares equal values (simplify/share.cc).
// `effects`, by value, marks values that must remain because they may fail; the marks follow the
// values. Such values are shared only if share_effects is set: before that, each may still sink
// below its own sampling. Returns true if anything changed.
bool fold_and_share(Core& core, std::vector<bool>& effects, bool share_effects);

// One folding step: the equivalent of a value with canonical operands (simplify/fold.cc).
// Nothing: the value remains. A value id: the value equals that one. A constant: the value equals
// it wherever it is present.
struct Folded {
  ValueId value;
  std::optional<Tensor> constant;
};
Folded fold(const Core& core, ValueId v);
// The result of an operator on constant operands; nothing if they are not constant or folding
// does not pay.
std::optional<Tensor> evaluate_constants(const Core& core, const Value& value, const core::Apply& apply);

// An equivalent, simpler right-hand side for v, if there is one (simplify/rewrite.cc).
std::optional<core::Rhs> simpler(const Core& core, ValueId v);
// A transposition of a transposition: axis k of v is axis axes[k] of the operand.
struct Transposed {
  ValueId operand;
  std::vector<std::size_t> axes;
};
std::optional<Transposed> transposed_twice(const Core& core, ValueId v);
// The operand in another shape with the same number of elements.
core::Rhs reshaped(ValueId operand, const Shape& shape);

// Moves pure pointwise values below the samplings if these are their only uses
// (simplify/sink.cc). Returns true if anything changed.
bool sink(Core& core, std::vector<bool>& effects, const std::vector<ValueId>& roots);

// Lets a delay on a sub-clock read the memory that holds its value on the clock above
// (simplify/hold.cc). Returns true if anything changed.
bool share_holds(Core& core);

// By value: the Booleans that have one truth at all instants of their clock (simplify/truth.cc).
std::vector<Truth> steady_truths(const Core& core);
// The result of a Boolean operator whose operands are constants, or can only have one value
// through all branches and delays.
std::optional<bool> settled_truth(const Core& core, const Value& value, const core::Apply& apply);
// Replaces Booleans with one truth at all instants by constants (simplify/truth.cc). Returns true
// if anything changed.
bool find_truths(Core& core);
// Replaces a condition that never holds by a constant if values on its clock may depend on
// themselves (simplify/truth.cc). Returns true if anything changed.
bool stop_rings(Core& core);

// Gives each user of a `post` its own post (simplify.cc).
void split_posts(Core& core);

// Keeps only the marked values and their clocks. Renumbers them so that operands precede users,
// except for operands of fby and post from other cycles. Ports, watches and parameters of dropped
// values are removed; `effects` is renumbered too.
void renumber(Core& core, const std::vector<bool>& keep, std::vector<bool>* effects = nullptr);

// The clocks of a core, interned: one id for each (parent, condition, polarity).
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

// A key for tables of constants. Equal constants have equal keys; different large constants may
// too.
std::string constant_key(const Tensor& tensor);

}  // namespace rml
