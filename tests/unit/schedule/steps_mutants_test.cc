// The verifier of steps must accept the steps of programs of every kind. It must refuse changes
// after which a value is not computed, not stored, or computed on fewer paths than it is read on.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>

#include "compiler/pipeline.h"
#include "lowering/steps/mentions.h"
#include "lowering/steps/verify_steps.h"
#include "lowering/text/steps_text.h"

namespace rml {

namespace {

struct StepsSource {
  const char *file, *node;
};

constexpr StepsSource steps_sources[] = {
    {"../examples/pid/pid.rml", ""},
    {"acceptance/case03_backfill.rml", "alone"},
    {"acceptance/case03_backfill.rml", "nested"},
    {"acceptance/case04_batch_norm.rml", "batch_mean"},
    {"acceptance/case08_two_cuts.rml", "inputs"},
    {"acceptance/case06_rnn.rml", "every_cycle"},
    {"figures/fig20_diff_lstm_numeric.rml", "mixed"},
    {"rows/cases/restart_trained.rml", ""},
    {"language/iterators/gradient_across_a_branch.rml", ""},
    {"language/iterators/memory_learns.rml", ""},
};

std::string text_of(const StepsSource& source) {
  Session session{Resources{RML_TESTS "/../stdlib"}};
  session.options.node = source.node;
  const auto lowered = compile(session, std::string(RML_TESTS "/") + source.file);
  if (!lowered) throw std::runtime_error(std::string("does not compile: ") + source.file);
  return steps_text(lowered->program);
}

// Steps cannot be copied, so each mutant is made of a new program.
steps::Program read(const std::string& text) {
  TextFault fault;
  auto program = read_steps(text, fault);
  if (!program) throw std::runtime_error(fault.message);
  return std::move(*program);
}

// Returns the value that a statement computes or loads; invalid if there is none.
ValueId written(const steps::Statement& s) {
  if (const auto* x = std::get_if<steps::Compute>(&s)) return x->value;
  if (const auto* x = std::get_if<steps::Copy>(&s)) return x->to;
  if (const auto* x = std::get_if<steps::LoadCell>(&s)) return x->value;
  if (const auto* x = std::get_if<steps::LoadArray>(&s)) return x->value;
  if (const auto* x = std::get_if<steps::LoadInput>(&s)) return x->value;
  return {};
}

// Returns all blocks in a fixed order, including nested ones.
void all_blocks(steps::Block& block, std::vector<steps::Block*>& found) {
  found.push_back(&block);
  for (steps::Statement& s : block.statements)
    if (auto* b = std::get_if<steps::Branch>(&s)) all_blocks(*b->then_block, found), all_blocks(*b->else_block, found);
}
std::vector<steps::Block*> all_blocks(steps::Program& program) {
  std::vector<steps::Block*> found;
  for (steps::Unit& u : program.units) each_block(u, [&](steps::Block& b) { all_blocks(b, found); });
  return found;
}

// Moves a statement under `last`, or under its negation.
void put_under_last(steps::Block& block, std::size_t at, bool holds) {
  steps::Branch branch{
      {steps::Test::last, {}, true}, std::make_unique<steps::Block>(), std::make_unique<steps::Block>()};
  (holds ? branch.then_block : branch.else_block)->statements.push_back(std::move(block.statements[at]));
  block.statements[at] = std::move(branch);
}

TEST(StepsMutants, AreRefused) {
  std::map<std::string, std::pair<int, int>> kinds;  // for each kind of change: how many were refused, and accepted
  for (const StepsSource& source : steps_sources) {
    const std::string text = text_of(source);
    steps::Program right = read(text);
    ASSERT_EQ(verify(right), "") << source.file;
    const std::vector<steps::Block*> blocks = all_blocks(right);
    std::map<ValueId, int> writers;
    for (const steps::Block* block : blocks)
      for (const steps::Statement& s : block->statements) ++writers[written(s)];
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto mentions = count_mentions(*right.core, *blocks[b]);
      for (std::size_t k = 0; k < blocks[b]->statements.size(); ++k) {
        const steps::Statement& s = blocks[b]->statements[k];
        const ValueId v = written(s);
        if (!v.valid() && !std::holds_alternative<steps::StoreArray>(s)) continue;
        const auto try_change = [&](const std::string& kind, const std::function<void(steps::Block&)>& change) {
          steps::Program mutant = read(text);
          change(*all_blocks(mutant)[b]);
          const bool refused = !verify(mutant).empty();
          ++(refused ? kinds[kind].first : kinds[kind].second);
          return refused;
        };
        const bool refused = try_change(v.valid() ? "not computed" : "not stored", [&](steps::Block& block) {
          block.statements.erase(block.statements.begin() + static_cast<std::ptrdiff_t>(k));
        });
        // The value is read in its block and computed only there, so it is missing without this
        // statement. A constant needs no code, and a condition may be needed by loads only.
        const bool missing = v.valid() && writers[v] == 1 && mentions.contains(v) && !right.core->is_const(v) &&
                             (*right.core)[v].dtype != DType::boolean;
        if (missing) {
          EXPECT_TRUE(refused) << source.file << ", without %" << v.index;
        }
        if (!right.units[0].segmented && right.units.size() == 1) continue;
        for (const bool last : {true, false})
          try_change(last ? "computed at the last instant alone" : "not computed at the last instant",
                     [&](steps::Block& block) { put_under_last(block, k, last); });
      }
    }
  }
  for (const auto& [kind, count] : kinds)
    std::printf("%5d refused %5d accepted  %s\n", count.first, count.second, kind.c_str());
  EXPECT_EQ(kinds.size(), 4U);
  for (const auto& [kind, count] : kinds) EXPECT_GE(count.first, kind == "not stored" ? 10 : 100) << kind;
}

// One sweep makes a call and another sweep needs its results, which are not kept.
TEST(StepsMutants, ResultsOfACallThatAnotherSweepMade) {
  std::string text = text_of({"language/iterators/gradient_across_a_branch.rml", ""});
  steps::Program program = read(text);
  bool refused = false;
  for (steps::Block* block : all_blocks(program)) {
    for (std::size_t k = 0; k < block->statements.size() && !refused; ++k) {
      const auto* c = std::get_if<steps::Compute>(&block->statements[k]);
      if (c == nullptr || !std::holds_alternative<core::Call>((*program.core)[c->value].rhs)) continue;
      block->statements[k] = steps::LoadCell{c->value, CellId{0}};
      refused = verify(program).find("is read where it was not computed") != std::string::npos;
    }
  }
  EXPECT_TRUE(refused);
}

}  // namespace

}  // namespace rml
