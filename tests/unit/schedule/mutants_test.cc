// The validator must accept the scheduler's output for programs of every kind. It must refuse
// every change that breaks a schedule, at every place, and accept changes that leave it correct.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "compiler/pipeline.h"
#include "lowering/schedule/check/validate_schedule.h"
#include "lowering/schedule/passes.h"
#include "mutate_schedule.h"

namespace rml {

namespace {

struct Source {
  const char *file, *node;
  Grain grain = Grain::none;
  Segmenting how = {};
};

Schedule schedule_of(const Source& source) {
  Session session{Resources{RML_TESTS "/../stdlib"}};
  session.options.node = source.node;
  session.options.grain = source.grain;
  const Front front = check(session, std::string(RML_TESTS "/") + source.file);
  const auto entry = find_entry(session, front);
  if (!entry) throw std::runtime_error(std::string("no entry in ") + source.file);
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  auto schedule =
      elaborated ? schedule_core(session, *elaborated->core, source.how, session.diagnostics) : std::nullopt;
  if (!schedule) throw std::runtime_error(std::string("no schedule of ") + source.file);
  return std::move(*schedule);
}

constexpr Source sources[] = {
    {"../examples/pid/pid.rml", ""},                          // a forward unit in a straight program
    {"acceptance/case03_backfill.rml", "alone"},              // segments with one backward sweep
    {"acceptance/case03_backfill.rml", "sampled"},            // segments on a sampled clock
    {"acceptance/case03_backfill.rml", "nested"},             // a program with many units
    {"acceptance/case04_batch_norm.rml", "batch_mean"},       // segments with four sweeps
    {"acceptance/case08_two_cuts.rml", "inputs"},             // a condition that holds only at the cut
    {"acceptance/case08_two_cuts_backward.rml", "inputs"},    // a segment with a side cell
    {"acceptance/case06_rnn.rml", "every_cycle"},             // a training
    {"language/iterators/gradient_across_a_branch.rml", ""},  // a program with calls
    {"figures/fig20_diff_lstm_numeric.rml", "mixed"},         // posts that wait for a sampled clock
    {"acceptance/case05_pipelines.rml", "train2"},            // a program whose units are retimed
    {"acceptance/case02_multirate.rml", "lookahead"},         // streams without their first elements
    {"figures/fig21_lstm_bi_diff.rml", "train"},              // a unit that does not always wait
    {"language/late/fby_on_late_clock.rml", "main"},          // a program with other memories
    {"../examples/pid/pid.rml", "", Grain::op},               // a network
    {"../benchmarks/ml/lstm_infer.rml", "", Grain::op},
    {"acceptance/case06_rnn.rml", "every_cycle", Grain::stage},
    {"acceptance/case06_rnn.rml", "every_cycle", Grain::op},
    // Computed cuts.
    {"rows/cases/done_or_truncated.rml", "", Grain::none, {Ends::by_need}},
    {"rows/cases/backfill_or.rml", "", Grain::none, {Ends::by_need}},
    {"rows/cases/two_ends.rml", "", Grain::none, {Ends::by_need}},
    {"rows/cases/lazy_branch.rml", "", Grain::none, {Ends::by_need}},
    {"rows/cases/lazy_memory.rml", "", Grain::none, {Ends::by_need}},
    {"rows/cases/level.rml", "", Grain::none, {Ends::by_need}},
    {"rows/cases/restart_trained.rml", ""},  // a unit that looks back
    // Shared windows.
    {"../examples/sunspots/sunspots.rml", "", Grain::none, {Ends::plain, Windows::shared}},
    {"rows/cases/moved_by_hand.rml", "", Grain::none, {Ends::plain, Windows::wide}},
    {"rows/cases/held_straight.rml", "", Grain::none, {Ends::plain, Windows::wide}},
};

TEST(Mutants, AreRefused) {
  struct Count {
    int refused = 0, accepted = 0;
  };
  std::map<std::string, Count> kinds;
  int refused = 0, of_computed_cuts = 0;
  for (const Source& source : sources) {
    const Schedule right = schedule_of(source);
    ASSERT_EQ(validate(right), "") << source.file << " " << source.node;
    for (const Mutant& m : mutants_of(right)) {
      const std::string complaint = validate(m.schedule);
      EXPECT_EQ(complaint.empty(), m.right)
          << source.file << " " << source.node << ": " << m.kind << " " << m.what << ": " << complaint;
      Count& count = kinds[m.kind];
      ++(complaint.empty() ? count.accepted : count.refused);
      refused += complaint.empty() ? 0 : 1;
      of_computed_cuts += complaint.empty() || segment_ends(right).empty() ? 0 : 1;
    }
  }
  for (const auto& [kind, count] : kinds)
    std::printf("%5d refused %5d accepted  %s\n", count.refused, count.accepted, kind.c_str());
  EXPECT_GE(refused, 200);
  EXPECT_GE(of_computed_cuts, 200);
  EXPECT_EQ(kinds.size(), 36U);
}

}  // namespace

}  // namespace rml
