// Counts every mention of every value; a value mentioned once, by a later Compute of the
// same block whose loop visits its elements once each, is computed in that loop:
//
//   t := mul a b;  y := add t c        (one loop:  y[i] = a[i] * b[i] + c[i])
//
// A matrix transposed for one product only is read where it lies.
#include "lowering/fuse.h"

#include <unordered_map>

namespace rml {

namespace {

class Fusion {
 public:
  explicit Fusion(steps::Program& p) : program_(p), core_(*p.core), mentions_(core_.values.size()) {}

  void run() {
    for (const steps::Unit& u : program_.units) {
      for (const auto& o : u.operands)
        for (const auto& [condition, positive] : o.when) ++mentions_[condition.index];
      each_block(u, [&](const steps::Block& b) { count(b); });
    }
    for (const steps::Unit& u : program_.units) each_block(u, [&](const steps::Block& b) { mark(b); });
  }

 private:
  template <class F>
  static void each_block(const steps::Unit& u, F&& f) {
    f(u.instant);
    for (const steps::Pass& p : u.passes) {
      f(p.prologue);
      f(p.body);
    }
    f(u.commit);
  }

  void mention(ValueId v) {
    if (v.valid()) ++mentions_[v.index];
  }

  void count(const steps::Block& block) {
    for (const steps::Statement& s : block.statements) std::visit([&](const auto& x) { count_in(x); }, s);
  }
  void count_in(const steps::Compute& s) {
    core::Rhs rhs = core_[s.value].rhs;
    for_each_operand(rhs, [&](ValueId o) { mention(o); });
  }
  void count_in(const steps::Copy& s) { mention(s.from); }
  void count_in(const steps::LoadCell&) {}
  void count_in(const steps::StoreCell& s) { mention(s.value); }
  void count_in(const steps::MoveCell&) {}
  void count_in(const steps::LoadArray&) {}
  void count_in(const steps::StoreArray& s) { mention(s.value); }
  void count_in(const steps::Push& s) { mention(s.value); }
  void count_in(const steps::LoadInput&) {}
  void count_in(const steps::StoreOutput& s) { mention(s.value); }
  void count_in(const steps::Expect&) {}
  void count_in(const steps::Assert& s) { mention(s.condition); }
  void count_in(const steps::Side& s) { mention(s.condition); }
  void count_in(const steps::SideCell&) {}
  void count_in(const steps::MarkLast& s) { mention(s.condition); }
  void count_in(const steps::Branch& s) {
    mention(s.test.condition);
    count(*s.then_block);
    count(*s.else_block);
  }

  static bool reduces(Lowering l) {
    return l == Lowering::reduce_sum || l == Lowering::reduce_mean || l == Lowering::reduce_min ||
           l == Lowering::reduce_max;
  }

  // Rows and columns exchanged, and nothing else: a product reads its operands so where they lie.
  bool exchanges_rows(const Value& value, const core::Apply& a) const {
    if (operators()[a.op].lowering != Lowering::transpose || value.shape.size() < 2) return false;
    const std::vector<Shape> shapes = {core_[a.operands[0]].shape};
    const std::vector<std::size_t> axes = transposed_axes(Application{{}, shapes, a.attributes, value.dtype});
    for (std::size_t k = 0; k + 2 < axes.size(); ++k)
      if (axes[k] != k) return false;
    return axes[axes.size() - 2] == axes.size() - 1;
  }

  // The values this block computes by elementwise loops, until their user comes by.
  void mark(const steps::Block& block) {
    std::unordered_map<std::uint32_t, bool> candidates, exchanged;
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s)) {
        mark(*b->then_block);
        mark(*b->else_block);
        continue;
      }
      const auto* c = std::get_if<steps::Compute>(&s);
      const auto* a = c == nullptr ? nullptr : std::get_if<core::Apply>(&core_[c->value].rhs);
      if (a == nullptr) continue;
      const OperatorInfo& op = operators()[a->op];
      const bool elementwise = op.lowering == Lowering::elementwise;
      for (ValueId o : a->operands) {
        if (!candidates.contains(o.index)) continue;
        if (reduces(op.lowering) || (elementwise && core_[o].shape == core_[c->value].shape))
          program_.inlined[o.index] = true;
      }
      if (op.lowering == Lowering::matmul)
        for (ValueId o : a->operands)
          if (exchanged.contains(o.index)) program_.inlined[o.index] = true;
      if (mentions_[c->value.index] == 1 && exchanges_rows(core_[c->value], *a)) exchanged[c->value.index] = true;
      if (elementwise && !op.can_fail && !core_[c->value].shape.empty() && mentions_[c->value.index] == 1)
        candidates[c->value.index] = true;
    }
  }

  steps::Program& program_;
  const Core& core_;
  std::vector<std::uint32_t> mentions_;
};

}  // namespace

void fuse(steps::Program& program) { Fusion(program).run(); }

}  // namespace rml
