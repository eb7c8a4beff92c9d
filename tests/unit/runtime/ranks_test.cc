// The functions that programs call among ranks (rmlrt.h): by a single rank and by threads, with
// wrong arguments, and the checks of ranks before they begin. tests/ranks tests sums of all sizes
// on all transports.
#include "runtime/ranks/ranks.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "runtime/ranks/agreement.h"
#include "runtime/ranks/in_process.h"

namespace rml::rt::test {
namespace {

// Returns the final text of each rank. The ranks leave when all have finished.
std::vector<std::string> on_ranks(std::uint32_t count, const std::function<std::string(Transport&)>& body) {
  const auto meeting = std::make_shared<Meeting>(count);
  std::vector<std::string> said(count);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      InProcess transport(meeting, rank);
      std::string reason;
      try {
        said[rank] = body(transport);
      } catch (const Failure& failure) {
        said[rank] = reason = failure.what();
      }
      transport.leave(reason);
    });
  for (std::thread& thread : threads) thread.join();
  return said;
}

std::string failure_of(Ranks& ranks) {
  try {
    ranks.rethrow();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(ranks, null_is_a_program_that_is_alone) {
  EXPECT_EQ(rml_rank(nullptr), 0u);
  EXPECT_EQ(rml_rank_count(nullptr), 1u);
  EXPECT_EQ(rml_micro_batch(nullptr, 7), 7u);
  EXPECT_EQ(rml_global_row(nullptr, 9), 9);
  double value = 3;
  rml_broadcast(nullptr, 0, RML_F64, 1, &value, 0);
  EXPECT_EQ(value, 3);
}

// 0.1 + 0.3 and 0.2 + 0.4 are added first; in the order of the numbers, the second sum of three
// would differ.
TEST(ranks, alone_sums_by_the_tree) {
  for (std::uint64_t first : {std::uint64_t{0}, std::uint64_t{4}}) {
    const double values[] = {0.1, 0.2, 0.3, 1e16};
    double total = -1;
    for (std::uint64_t k = 0; k < 4; ++k) {
      EXPECT_EQ(rml_last_here(nullptr, 4, first + k), k == 3 ? 1 : 0);
      rml_all_sum(nullptr, 5, RML_F64, 1, &values[k], 4, first + k, k == 3 ? 1 : 0, &total);
    }
    EXPECT_EQ(total, (0.1 + 0.3) + (0.2 + 1e16));
  }
}

TEST(ranks, a_step_that_is_cut_off_has_no_sum) {
  Alone transport;
  Ranks ranks(transport);
  for (const std::uint32_t in_step : {2u, 1u}) {
    double total = -1;
    for (std::uint64_t k = 0; k < in_step; ++k) {
      ranks.set_position({.row = 0, .micro_batch = 4 + k, .in_step = in_step});
      const double value = 1.5;
      rml_step_sum(ranks.handle(), 0, RML_F64, 1, &value, 2, 4 + k, &total);
      EXPECT_EQ(rml_step_ends(ranks.handle(), 2, 4 + k), in_step == 2 && k == 1 ? 1 : 0);
      EXPECT_EQ(total, in_step == 2 && k == 1 ? 3.0 : 0.0);
    }
  }
  // A late message belongs to a step that was complete, because another step follows.
  EXPECT_EQ(rml_step_ends(ranks.handle(), 2, 3), 1);
  ranks.rethrow();
}

TEST(ranks, all_have_what_the_first_has) {
  const auto said = on_ranks(3, [](Transport& transport) {
    Ranks ranks(transport);
    const std::int32_t value = 7 + static_cast<std::int32_t>(transport.rank());
    std::int32_t found = 0;
    rml_from_first(ranks.handle(), 0, RML_I32, 1, &value, &found);
    ranks.rethrow();
    return std::to_string(found);
  });
  for (const std::string& value : said) EXPECT_EQ(value, "7");
}

TEST(ranks, what_is_asked_wrongly_leaves_zeros_and_is_told) {
  Alone transport;
  const std::uint8_t truth = 1;
  const float value = 2;
  struct Wrong {
    const char* text;
    std::function<void(rml_ranks*, float*)> call;
  };
  const Wrong all[] = {{"values that cannot be added",
                        [&](rml_ranks* r, float* out) { rml_all_sum(r, 0, RML_BOOL, 1, &truth, 1, 0, 1, out); }},
                       {"the program has no steps",
                        [&](rml_ranks* r, float* out) { rml_all_sum(r, 0, RML_F32, 1, &value, 0, 0, 1, out); }},
                       {"broadcast from rank 1: only 1 rank takes part",
                        [&](rml_ranks* r, float* out) { rml_broadcast(r, 0, RML_F32, 1, out, 1); }}};
  for (const Wrong& wrong : all) {
    Ranks ranks(transport);
    float out = 0;
    wrong.call(ranks.handle(), &out);
    EXPECT_EQ(out, 0);
    EXPECT_NE(failure_of(ranks).find(wrong.text), std::string::npos) << failure_of(ranks);
    out = 9;
    rml_all_sum(ranks.handle(), 1, RML_F32, 1, &value, 1, 0, 1, &out);
    EXPECT_EQ(out, 0) << "the first failure stands";
  }
}

TEST(ranks, a_micro_batch_belongs_to_one_rank) {
  const auto said = on_ranks(2, [](Transport& transport) {
    Ranks ranks(transport);
    const float value = 1;
    float out = 0;
    if (transport.rank() == 1) rml_all_sum(ranks.handle(), 0, RML_F32, 1, &value, 2, 0, 0, &out);
    return failure_of(ranks);
  });
  EXPECT_EQ(said[1], "micro-batch 0 of 2 in its step does not belong to rank 1");
}

TEST(ranks, a_value_goes_to_all_from_any) {
  for (const std::uint32_t from : {0u, 3u, 4u}) {
    const auto said = on_ranks(5, [from](Transport& transport) {
      Ranks ranks(transport);
      std::int32_t value = 100 + static_cast<std::int32_t>(transport.rank());
      rml_broadcast(ranks.handle(), 0, RML_I32, 1, &value, from);
      ranks.rethrow();
      return std::to_string(value);
    });
    for (const std::string& value : said) EXPECT_EQ(value, std::to_string(100 + from));
  }
}

TEST(ranks, sums_of_another_size_are_no_sums_of_this_program) {
  const auto said = on_ranks(2, [](Transport& transport) {
    Ranks ranks(transport);
    const float values[2] = {1, 2};
    float out[2];
    rml_all_sum(ranks.handle(), 0, RML_F32, 1 + transport.rank(), values, 2, transport.rank(), 1, out);
    ranks.rethrow();
    return std::string();
  });
  EXPECT_EQ(said[0], "rank 1 has sent 9 bytes of a sum, but 5 were expected: it does not run the same program");
  EXPECT_EQ(said[1], "rank 0 has stopped: " + said[0]);
}

TEST(ranks, who_ends_too_early_is_named) {
  const auto said = on_ranks(2, [](Transport& transport) {
    if (transport.rank() == 1) return std::string("over");
    transport.receive(1, {Talk::sum, 0}, "a sum");
    return std::string();
  });
  EXPECT_EQ(said[0].find("rank 1 has ended because its input ended, but rank 0 needs a sum from it"), 0u) << said[0];
  EXPECT_EQ(said[1], "over");
}

TEST(ranks, patience_has_an_end) {
  const auto said = on_ranks(2, [](Transport& transport) {
    if (transport.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return std::string("slow");
    }
    transport.set_patience(std::chrono::milliseconds(30));
    transport.receive(1, {Talk::sum, 0}, "a sum");
    return std::string();
  });
  EXPECT_EQ(said[0].find("rank 1 has not sent a sum in 0 seconds: it is slow, stopped or disconnected"), 0u) << said[0];
}

TEST(ranks, what_differs_is_refused_by_all_alike) {
  const auto agree_on = [](std::vector<Fact> of_rank_2) {
    return on_ranks(4, [&](Transport& transport) {
      const std::vector<Fact> facts{{"option", "a:b"}, {"the type of 'x'", "f32[3]"}};
      agree(transport, transport.rank() == 2 ? of_rank_2 : facts);
      return std::string("agreed");
    });
  };
  for (const std::string& text : agree_on({{"option", "a:b"}, {"the type of 'x'", "f32[3]"}}))
    EXPECT_EQ(text, "agreed");
  for (const std::string& text : agree_on({{"option", "a:b"}, {"the type of 'x'", "f32[4]"}}))
    EXPECT_EQ(text,
              "rank 2 was started differently from rank 0: the type of 'x' is f32[4], but that of rank 0 is f32[3]");
  for (const std::string& text : agree_on({{"option", "a:b"}}))
    EXPECT_EQ(text,
              "rank 2 was started differently from rank 0: the type of 'x' is missing, but that of rank 0 is f32[3]");
  for (const std::string& text : agree_on({{"option", ""}, {"the type of 'x'", "f32[3]"}}))
    EXPECT_EQ(text, "rank 2 was started differently from rank 0: option is , but that of rank 0 is a:b");
}

TEST(ranks, messages_are_those_of_the_table_in_the_manual) {
  const std::pair<std::uint32_t, std::uint64_t> table[] = {{1, 0}, {2, 2}, {3, 9}, {4, 6}, {8, 14}};
  for (const auto& [ranks, messages] : table) EXPECT_EQ((TreeShape{8, 8, ranks}.messages()), messages) << ranks;
  EXPECT_EQ((TreeShape{8, 8, 4}.bytes(400)), 6u * 401);
  EXPECT_EQ((TreeShape{8, 1, 4}.messages()), 0u);
  EXPECT_EQ((TreeShape{8, 0, 4}.messages()), 0u);
}

}  // namespace
}  // namespace rml::rt::test
