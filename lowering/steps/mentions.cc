// Counts each statement once. A value that a statement writes does not count as a mention.
#include "lowering/steps/mentions.h"

namespace rml {

namespace {

template <class F>
class Mentions {
 public:
  Mentions(const Core& core, const F& found) : core_(core), found_(found) {}

  void mention(ValueId v) {
    if (v.valid()) found_(v);
  }
  void count(const steps::Block& block) {
    for (const steps::Statement& s : block.statements) std::visit([&](const auto& x) { count_in(x); }, s);
  }

 private:
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
  const F& found_;
};

}  // namespace

std::vector<std::uint32_t> count_mentions(const steps::Program& program) {
  std::vector<std::uint32_t> counts(program.core->values.size());
  const auto found = [&](ValueId v) { ++counts[v.index]; };
  Mentions mentions(*program.core, found);
  for (const steps::Unit& u : program.units) {
    for (const auto& o : u.operands)
      for (const auto& [condition, positive] : o.when) mentions.mention(condition);
    each_block(u, [&](const steps::Block& b) { mentions.count(b); });
  }
  return counts;
}

std::map<ValueId, std::uint32_t> count_mentions(const Core& core, const steps::Block& block) {
  std::map<ValueId, std::uint32_t> counts;
  const auto found = [&](ValueId v) { ++counts[v]; };
  Mentions(core, found).count(block);
  return counts;
}

}  // namespace rml
