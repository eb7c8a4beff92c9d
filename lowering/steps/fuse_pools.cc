// Fuses a convolution with a pool. If the only user of the convolution is a later pool of the same block, it is
// computed in the pool's loop over images:
//
//   t := conv x w;  y := max_pool t      (one loop:  t = conv x[n] w;  y[n] = max_pool t)
//
// Then an image of t is still in the first-level cache when it is pooled.
#include "lowering/steps/fuse_pools.h"

#include <unordered_set>

#include "lowering/steps/mentions.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

class PoolFusion {
 public:
  explicit PoolFusion(steps::Program& p) : program_(p), core_(*p.core), mentions_(count_mentions(p)) {}

  void run() {
    for (const steps::Unit& u : program_.units) each_block(u, [&](const steps::Block& b) { mark(b); });
  }

 private:
  void mark(const steps::Block& block) {
    std::unordered_set<std::uint32_t> convolutions;
    for (const steps::Statement& s : block.statements) {
      if (const auto* b = std::get_if<steps::Branch>(&s)) {
        mark(*b->then_block);
        mark(*b->else_block);
      }
      const auto* c = std::get_if<steps::Compute>(&s);
      const auto* a = c == nullptr ? nullptr : apply_of(core_, c->value);
      if (a == nullptr) continue;
      const WindowForm form = operators()[a->op].window;
      if (form == WindowForm::convolution && mentions_[c->value.index] == 1) convolutions.insert(c->value.index);
      if (is_pool(form) && convolutions.contains(a->operands[0].index)) program_.inlined[a->operands[0].index] = true;
    }
  }

  steps::Program& program_;
  const Core& core_;
  std::vector<std::uint32_t> mentions_;
};

}  // namespace

void fuse_pools(steps::Program& program) { PoolFusion(program).run(); }

}  // namespace rml
