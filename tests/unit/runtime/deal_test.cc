// Deals rows to ranks (runtime/ranks/deal.h): the rank of each row, absent values, and positions
// in the input.
#include "runtime/ranks/deal.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/base/failure.h"
#include "tests/unit/runtime/programs.h"

namespace rml::rt::test {
namespace {

// end, x, and s, which is present if x is even. x counts the rows from 0, and the position of s
// is line 10 + row.
class Counting final : public RowSource {
 public:
  Counting(Row& row, std::string ends) : row_(row), ends_(std::move(ends)) {}
  bool read() override {
    if (at_ == ends_.size()) return false;
    const bool end = ends_[at_] == 'T';
    const auto x = static_cast<std::int32_t>(at_++);
    std::memcpy(row_.data(0), &end, sizeof end);
    std::memcpy(row_.data(1), &x, sizeof x);
    row_.set_present(2, x % 2 == 0);
    const std::int32_t s = 100 + x;
    if (x % 2 == 0) std::memcpy(row_.data(2), &s, sizeof s);
    return true;
  }
  Place where(std::uint32_t) const override { return {static_cast<std::int64_t>(9 + at_), 3}; }
  double fraction() const override { return 0.5; }
  const std::string& name() const override { return name_; }

 private:
  Row& row_;
  const std::string ends_, name_ = "counting";
  std::size_t at_ = 0;
};

// The transport of a rank that never communicates.
class Silent final : public Transport {
 public:
  using Transport::Transport;

 protected:
  void do_send(std::uint32_t, Tag, Message) override {}
  std::optional<Message> do_receive(std::uint32_t, Tag) override { return std::nullopt; }
  void do_leave(const std::string&) override {}
  Standing standing(std::uint32_t) override { return {}; }
  void pause(unsigned) override {}
};

struct Deal {
  Deal(const std::string& ends, std::uint32_t rank, std::uint32_t count, std::optional<std::int64_t> limit = {})
      : ports({{"end", RML_BOOL}, {"x", RML_I32}, {"s", RML_I32, {}, 0}}),
        program(ports.table()),
        row((program.per_step = 3, program.inputs), program.n_inputs),
        transport(rank, count),
        ranks(transport),
        rows(std::make_unique<Counting>(row, ends), row, program, ranks, limit) {}

  // Returns the values of x that are dealt to the rank, for example "0 1 4".
  std::string all() {
    std::string text;
    while (rows.read()) text += (text.empty() ? "" : " ") + std::to_string(x());
    return text;
  }
  std::int32_t x() const {
    std::int32_t value = 0;
    std::memcpy(&value, row.data(1), sizeof value);
    return value;
  }

  CopyProgram ports;
  rml_program program;
  Row row;
  Silent transport;
  Ranks ranks;
  DealtRows rows;
};

std::string dealt(const std::string& ends, std::uint32_t rank, std::uint32_t count) {
  return Deal(ends, rank, count).all();
}

TEST(deal, micro_batches_go_to_rank_after_rank_and_each_step_begins_with_rank_0) {
  // Micro-batches 0-1, 2, 3-4 form a step; 5, 6-7, 8 form the next one.
  const std::string ends = "FTTFTTFTT";
  EXPECT_EQ(dealt(ends, 0, 1), "0 1 2 3 4 5 6 7 8");
  EXPECT_EQ(dealt(ends, 0, 2), "0 1 3 4 5 8");
  EXPECT_EQ(dealt(ends, 1, 2), "2 6 7");
  EXPECT_EQ(dealt(ends, 2, 3), "3 4 8");
  EXPECT_EQ(dealt(ends, 3, 4), "");
}

TEST(deal, rows_behind_the_last_end_go_to_the_rank_whose_turn_it_is) {
  EXPECT_EQ(dealt("TFF", 0, 2), "0");
  EXPECT_EQ(dealt("TFF", 1, 2), "1 2");
  EXPECT_EQ(dealt("", 0, 2), "");
  EXPECT_EQ(dealt("F", 0, 2), "0");
}

TEST(deal, tells_where_a_row_stands_among_those_of_all) {
  Deal deal("FTTFTTT", 1, 2);
  ASSERT_TRUE(deal.rows.read());
  EXPECT_EQ(rml_global_row(deal.ranks.handle(), 0), 2);
  EXPECT_EQ(rml_micro_batch(deal.ranks.handle(), 0), 1u);
  EXPECT_EQ(rml_last_here(deal.ranks.handle(), 3, 1), 1);
  ASSERT_TRUE(deal.rows.read());
  EXPECT_EQ(rml_global_row(deal.ranks.handle(), 1), 6);
  EXPECT_EQ(rml_micro_batch(deal.ranks.handle(), 1), 4u);
}

TEST(deal, the_end_of_a_partial_step_is_known_in_time) {
  Deal deal("TTTTT", 0, 2);
  for (const int last : {0, 1, 1}) {
    ASSERT_TRUE(deal.rows.read());
    const std::uint64_t micro_batch = rml_micro_batch(deal.ranks.handle(), 0);
    EXPECT_EQ(rml_last_here(deal.ranks.handle(), 3, micro_batch), last) << micro_batch;
  }
}

TEST(deal, values_that_are_absent_stay_so_and_places_are_those_of_the_row) {
  Deal deal("FTFTFT", 1, 2);
  ASSERT_TRUE(deal.rows.read());
  EXPECT_EQ(deal.x(), 2);
  ASSERT_TRUE(deal.row.is_present(2));
  std::int32_t s = 0;
  std::memcpy(&s, deal.row.data(2), sizeof s);
  EXPECT_EQ(s, 102);
  EXPECT_EQ(deal.rows.where(2).line, 12);
  ASSERT_TRUE(deal.rows.read());
  EXPECT_FALSE(deal.row.is_present(2));
  EXPECT_EQ(deal.rows.where(2).line, 13);
}

TEST(deal, a_limit_counts_the_rows_of_all_ranks) {
  EXPECT_EQ(Deal("FTTFTT", 0, 2, 4).all(), "0 1 3");
  EXPECT_EQ(Deal("FTTFTT", 0, 2, 0).all(), "");
}

TEST(deal, states_of_programs_that_deal_nothing_out_do_not_say_where_to_go_on) {
  Deal deal("TTT", 0, 1);
  try {
    deal.rows.go_on(RunRecord{}, true, "old.state");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("'old.state' was saved by a program without dealt rows"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace rml::rt::test
