// Fuses loops. A value with one use, by a later Compute of the same block whose loop visits its elements once each, is
// computed in that loop:
//
//   t := mul a b;  y := add t c        (one loop:  y[i] = a[i] * b[i] + c[i])
//
// Three other kinds of values are computed by their users:
//
// - A view (a slice, a transposition, a broadcast) of a value in memory: all loops of its block that read it
//   use its index arithmetic.
// - One addition, subtraction, multiplication or negation of one tensor and smaller ones. It costs next to nothing
//   beside the load of the tensor. A few such operations may follow one another; a long chain would be repeated by
//   every loop.
// - A matrix that is transposed for one product only: the product reads it in place. A product with a single
//   elementwise user: the loops of the product compute the user from elements in registers.
#include "lowering/steps/fuse.h"

#include <algorithm>
#include <unordered_map>

#include "lowering/steps/index_map.h"
#include "lowering/steps/loop_group.h"
#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

class Fusion {
 public:
  Fusion(steps::Program& p, const Target& target)
      : program_(p), core_(*p.core), target_(target), mentions_(count_mentions(p)), sizes_(core_.values.size(), 1) {}

  void run() {
    for (const steps::Unit& u : program_.units) each_block(u, [&](const steps::Block& b) { mark(b); });
  }

 private:
  // True if only rows and columns are exchanged: a product reads such an operand in place.
  bool exchanges_rows(const Value& value, const core::Apply& a) const {
    if (operators()[a.op].lowering != Lowering::transpose || value.shape.size() < 2) return false;
    const std::vector<Shape> shapes = {core_[a.operands[0]].shape};
    const std::vector<std::size_t> axes = transposed_axes(Application{{}, shapes, a.attributes, value.dtype});
    for (std::size_t k = 0; k + 2 < axes.size(); ++k)
      if (axes[k] != k) return false;
    return axes[axes.size() - 2] == axes.size() - 1;
  }

  // True if the loops of v read all operands through index arithmetic.
  bool evaluates(ValueId v) const {
    const auto* a = apply_of(core_, v);
    if (a == nullptr) return false;
    const Lowering l = operators()[a->op].lowering;
    return is_pointwise(core_, v) || is_reduction(l) || l == Lowering::concat || l == Lowering::array;
  }

  // True if the loops of v compute each element of the operand at most once.
  bool visits_once(ValueId v, std::size_t operand) const {
    return is_pointwise(core_, v) ? reads_once(core_, v, operand) : evaluates(v);
  }

  bool made_at_once(ValueId v) const {
    const auto* a = apply_of(core_, v, Lowering::elementwise);
    if (a == nullptr || !is_float(core_[v].dtype)) return false;
    const ScalarOp op = operators()[a->op].scalar;
    if (op != ScalarOp::add && op != ScalarOp::sub && op != ScalarOp::mul && op != ScalarOp::negate) return false;
    std::size_t whole = 0;
    for (const ValueId o : a->operands) {
      if (core_[o].shape != core_[v].shape) continue;
      const auto* x = apply_of(core_, o);
      const bool stays = std::holds_alternative<core::Input>(core_[o].rhs) || (x != nullptr && !is_part(core_, o));
      if (!stays || program_.inlined[o.index]) return false;
      ++whole;
    }
    return whole == 1;
  }

  // A value that each of its readers recomputes.
  struct Again {
    std::uint32_t reads = 0;
    std::uint32_t operations = 0;  // operations to recompute for each reader
  };

  Again made_again(ValueId v, bool view, const std::unordered_map<std::uint32_t, Again>& known) const {
    std::uint32_t most = 0;
    for (const ValueId o : std::get<core::Apply>(core_[v].rhs).operands)
      if (const auto at = known.find(o.index); at != known.end()) most = std::max(most, at->second.operations);
    return {0, view ? most : most + 1};
  }

  // Marks views and cheap operations that only loops of this block read.
  void find_views(const steps::Block& block) {
    std::unordered_map<std::uint32_t, Again> known;
    for (const steps::Statement& s : block.statements) {
      const auto* c = std::get_if<steps::Compute>(&s);
      if (c == nullptr) continue;
      if (evaluates(c->value))
        for (ValueId o : std::get<core::Apply>(core_[c->value].rhs).operands)
          if (const auto at = known.find(o.index); at != known.end()) ++at->second.reads;
      const bool view = is_view(core_, c->value) && !core_[c->value].shape.empty();
      if (!view && !made_at_once(c->value)) continue;
      const Again entry = made_again(c->value, view, known);
      if (entry.operations <= target_.repeated_operations) known[c->value.index] = entry;
    }
    for (const auto& [v, entry] : known)
      if (entry.reads > 0 && entry.reads == mentions_[v]) program_.inlined[v] = true;
  }

  // Marks the values of this block that are computed in their user's loop. Candidates wait until their user is reached.
  void mark(const steps::Block& block) {
    find_views(block);
    std::unordered_map<std::uint32_t, bool> candidates, products, exchanged;
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s)) {
        mark(*b->then_block);
        mark(*b->else_block);
        continue;
      }
      const auto* c = std::get_if<steps::Compute>(&s);
      const auto* a = c == nullptr ? nullptr : apply_of(core_, c->value);
      if (a == nullptr) continue;
      const OperatorInfo& op = operators()[a->op];
      const ValueId v = c->value;
      const bool once = mentions_[v.index] == 1;
      for (std::size_t k = 0; k < a->operands.size(); ++k) {
        const ValueId o = a->operands[k];
        const bool again = program_.inlined[v.index] && !once;  // true for a view that several loops read
        if (candidates.contains(o.index) && visits_once(v, k) && !again) program_.inlined[o.index] = true;
        if (products.contains(o.index) && is_pointwise(core_, v) && reads_once(core_, v, k) && !again)
          program_.inlined[o.index] = true;
        if (op.lowering == Lowering::matmul && exchanged.contains(o.index)) program_.inlined[o.index] = true;
      }
      for (const ValueId o : a->operands)
        if (program_.inlined[o.index]) sizes_[v.index] += sizes_[o.index];
      if (core_[v].shape.empty() || !once || can_fail(core_, v) || sizes_[v.index] > target_.loop_values) continue;
      if (exchanges_rows(core_[v], *a)) exchanged[v.index] = true;
      if (op.lowering == Lowering::matmul) products[v.index] = true;
      if (is_pointwise(core_, v)) candidates[v.index] = true;
    }
  }

  steps::Program& program_;
  const Core& core_;
  const Target& target_;
  std::vector<std::uint32_t> mentions_;
  std::vector<std::uint32_t> sizes_;  // one per value: number of values that its loops compute, inlined ones included
};

}  // namespace

void fuse(steps::Program& program, const Target& target) { Fusion(program, target).run(); }

}  // namespace rml
