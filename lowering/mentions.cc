// Statements of all kinds are visited once; what a statement writes is no mention.
#include "lowering/mentions.h"

namespace rml {

namespace {

class Mentions {
 public:
  explicit Mentions(const steps::Program& p) : core_(*p.core), counts_(core_.values.size()) {}

  std::vector<std::uint32_t> run(const steps::Program& program) {
    for (const steps::Unit& u : program.units) {
      for (const auto& o : u.operands)
        for (const auto& [condition, positive] : o.when) mention(condition);
      each_block(u, [&](const steps::Block& b) { count(b); });
    }
    return std::move(counts_);
  }

 private:
  void mention(ValueId v) {
    if (v.valid()) ++counts_[v.index];
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
  void count_in(const steps::SegmentProduct& s) {
    mention(s.a.held);
    mention(s.b.held);
  }
  void count_in(const steps::MarkLast& s) { mention(s.condition); }
  void count_in(const steps::Branch& s) {
    mention(s.test.condition);
    count(*s.then_block);
    count(*s.else_block);
  }

  const Core& core_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

std::vector<std::uint32_t> count_mentions(const steps::Program& program) { return Mentions(program).run(program); }

}  // namespace rml
