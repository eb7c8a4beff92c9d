// Reading ahead and writing behind, with sources and sinks that are slow, fail or wait. Built
// without a warm-up, so the threads start with the first row.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "runtime/base/failure.h"
#include "runtime/pipeline/read_ahead.h"
#include "runtime/pipeline/write_behind.h"

namespace rml::rt {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t dims[] = {100};
constexpr rml_port ports[] = {{"n", "base", RML_I64, 1, 0, 0, nullptr, 1},
                              {"odd", "base on c", RML_U8, 0, 0, 0, nullptr, 1},
                              {"v", "base", RML_F32, 1, 0, 1, dims, 100}};

bool threads_are_there() { return several_processors(); }

std::int64_t number(const Row& row) {
  std::int64_t n = 0;
  std::memcpy(&n, row.data(0), sizeof n);
  return n;
}

// Row n contains n, n at odd rows, and 100 times n.
void fill(Row& row, std::int64_t n) {
  std::memcpy(row.data(0), &n, sizeof n);
  row.set_present(0, true);
  *static_cast<std::uint8_t*>(row.data(1)) = static_cast<std::uint8_t>(n);
  row.set_present(1, n % 2 == 1);
  for (int k = 0; k < 100; ++k) static_cast<float*>(row.data(2))[k] = static_cast<float>(n);
  row.set_present(2, true);
}

void expect_row(const Row& row, std::int64_t n) {
  ASSERT_EQ(number(row), n);
  ASSERT_EQ(row.is_present(1), n % 2 == 1);
  if (n % 2 == 1) {
    ASSERT_EQ(*static_cast<const std::uint8_t*>(row.data(1)), static_cast<std::uint8_t>(n));
  }
  for (const int k : {0, 57, 99}) ASSERT_EQ(static_cast<const float*>(row.data(2))[k], static_cast<float>(n));
}

class Numbers final : public RowSource {
 public:
  Numbers(Row& row, std::int64_t count, std::function<void(std::int64_t)> before = {})
      : row_(row), count_(count), before_(std::move(before)) {}
  bool read() override {
    if (before_) before_(next_);
    if (next_ == count_) return false;
    fill(row_, next_++);
    ++reads;
    return true;
  }
  Place where(std::uint32_t port) const override { return {next_, port}; }
  double fraction() const override { return static_cast<double>(next_) / static_cast<double>(count_); }
  const std::string& name() const override { return name_; }

  std::atomic<std::int64_t> reads{0};

 private:
  Row& row_;
  std::int64_t count_;
  std::function<void(std::int64_t)> before_;
  std::int64_t next_ = 0;
  const std::string name_ = "numbers";
};

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(ReadAhead, the_same_rows_and_places) {
  Row row(ports, 3);
  ReadAhead source(std::make_unique<Numbers>(row, 5000), row, {});
  for (std::int64_t n = 0; n < 5000; ++n) {
    ASSERT_TRUE(source.read());
    expect_row(source.row(), n);
    EXPECT_EQ(source.place(1), "numbers:" + std::to_string(n + 1) + ":1");
  }
  EXPECT_FALSE(source.read());
  EXPECT_FALSE(source.read());
  EXPECT_EQ(source.fraction(), 1);
}

TEST(ReadAhead, reads_while_the_program_computes) {
  if (!threads_are_there()) GTEST_SKIP();
  Row row(ports, 3);
  auto numbers = std::make_unique<Numbers>(row, 1'000'000);
  const Numbers& read = *numbers;
  ReadAhead source(std::move(numbers), row, {});
  ASSERT_TRUE(source.read());
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (read.reads < 200 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_GE(read.reads, 200);
  std::this_thread::sleep_for(20ms);
  EXPECT_LT(read.reads, 5000);  // only a bounded number of rows was read ahead
}

TEST(ReadAhead, a_failure_comes_where_its_row_would) {
  for (const std::int64_t bad : {0, 1, 2, 700}) {
    Row row(ports, 3);
    ReadAhead source(std::make_unique<Numbers>(row, 1000,
                                               [bad](std::int64_t n) {
                                                 if (n == bad) throw Failure("bad row");
                                               }),
                     row, {});
    for (std::int64_t n = 0; n < bad; ++n) {
      ASSERT_TRUE(source.read());
      expect_row(source.row(), n);
    }
    EXPECT_EQ(message([&] { source.read(); }), "bad row");
  }
}

TEST(ReadAhead, never_more_rows_than_are_needed) {
  Row row(ports, 3);
  auto numbers = std::make_unique<Numbers>(row, 1000);
  const Numbers& read = *numbers;
  ReadAhead source(std::move(numbers), row, {});
  source.limit(10);
  for (int n = 0; n < 10; ++n) ASSERT_TRUE(source.read());
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(read.reads, 10);
}

// A source whose rows arrive when the test sends them.
class Partner {
 public:
  std::unique_ptr<ReadAhead> open(Row& row, const WakeUp& wake_up, std::function<void()> flush) {
    auto numbers = std::make_unique<Numbers>(row, 1'000'000, [this, &wake_up](std::int64_t n) { wait(n, wake_up); });
    auto ahead = std::make_unique<ReadAhead>(std::move(numbers), row, Ahead{true, std::move(flush), &wake_up});
    source_ = ahead.get();
    return ahead;
  }
  void send(std::int64_t rows) { sent_ += rows; }

 private:
  void wait(std::int64_t n, const WakeUp& wake_up) {
    if (n >= sent_) source_->before_waiting();
    while (n >= sent_) {
      pollfd wanted{wake_up.fd(), POLLIN, 0};
      if (::poll(&wanted, 1, 0) > 0) throw Interrupted{};
      std::this_thread::sleep_for(50us);
    }
  }
  std::atomic<std::int64_t> sent_{0};
  ReadAhead* source_ = nullptr;
};

// Row n + 1 is sent once the outputs of row n are flushed, so a missing flush would wait forever.
TEST(ReadAhead, flushes_before_it_waits) {
  Row row(ports, 3);
  const WakeUp wake_up;
  Partner partner;
  std::int64_t used = 0, flushes = 0;
  const auto run = std::this_thread::get_id();
  partner.send(1);
  const auto source = partner.open(row, wake_up, [&] {
    EXPECT_EQ(std::this_thread::get_id(), run);
    ++flushes;
    partner.send(1);
  });
  while (used < 300) {
    ASSERT_TRUE(source->read());
    expect_row(source->row(), used++);
  }
  EXPECT_GE(flushes, 299);
}

TEST(ReadAhead, ends_while_its_source_waits) {
  for (int k = 0; k < 20; ++k) {
    Row row(ports, 3);
    const WakeUp wake_up;
    Partner partner;
    partner.send(3);
    const auto source = partner.open(row, wake_up, {});
    for (int n = 0; n < 3; ++n) ASSERT_TRUE(source->read());
  }
}

TEST(ReadAhead, ends_while_nobody_takes_its_rows) {
  for (int k = 0; k < 20; ++k) {
    Row row(ports, 3);
    ReadAhead source(std::make_unique<Numbers>(row, 1'000'000), row, {});
    ASSERT_TRUE(source.read());
    if (k % 2 == 0) std::this_thread::sleep_for(2ms);
  }
}

// The rows that a sink received, and the reactions that the test chooses.
struct Written {
  std::atomic<std::int64_t> rows{0};
  std::atomic<bool> closed{false};
  std::function<void(std::int64_t)> before;
};

class Collector final : public RowSink {
 public:
  Collector(const Row& row, Written& written) : row_(row), written_(written) {}
  void write() override {
    const std::int64_t n = written_.rows;
    if (written_.before) written_.before(n);
    expect_row(row_, n);
    ++written_.rows;
  }
  void undetermined(std::int64_t) override {}
  void flush() override {}
  std::optional<std::uint64_t> settle() override { return std::nullopt; }
  void close() override { written_.closed = true; }

 private:
  const Row& row_;
  Written& written_;
};

TEST(WriteBehind, every_row_in_order) {
  Row row(ports, 3);
  Written written;
  WriteBehind sinks(row, 3, true);
  sinks.add(std::make_unique<Collector>(sinks.row(), written), {0, 1, 2});
  for (std::int64_t n = 0; n < 5000; ++n) {
    fill(row, n);
    sinks.write();
    if (n % 777 == 0) {
      sinks.catch_up();
      ASSERT_EQ(written.rows, n + 1);
    }
  }
  sinks.catch_up();
  EXPECT_EQ(written.rows, 5000);
}

TEST(WriteBehind, the_program_goes_on_while_a_sink_is_busy) {
  if (!threads_are_there()) GTEST_SKIP();
  Row row(ports, 3);
  Written written;
  std::atomic<bool> go_on{false};
  written.before = [&](std::int64_t n) {
    while (n == 1 && !go_on) std::this_thread::sleep_for(100us);
  };
  WriteBehind sinks(row, 3, true);
  sinks.add(std::make_unique<Collector>(sinks.row(), written), {0, 1, 2});
  for (std::int64_t n = 0; n < 300; ++n) {  // the loop would not end if write() waited for the sink
    fill(row, n);
    sinks.write();
  }
  EXPECT_LE(written.rows, 1);
  go_on = true;
  sinks.catch_up();
  EXPECT_EQ(written.rows, 300);
}

TEST(WriteBehind, a_failure_is_told_once_and_harms_no_other_sink) {
  Row row(ports, 3);
  Written good, bad;
  bad.before = [](std::int64_t n) {
    if (n == 500) throw Failure("the disk is full");
  };
  WriteBehind sinks(row, 3, true);
  sinks.add(std::make_unique<Collector>(sinks.row(), bad), {0, 1});
  sinks.add(std::make_unique<Collector>(sinks.row(), good), {2});
  // The count stops, so the sink fails repeatedly.
  std::int64_t n = 0;
  const std::string told = message([&] {
    for (; n < 1'000'000; ++n) {
      fill(row, n);
      sinks.write();
    }
  });
  EXPECT_EQ(told, "the disk is full");
  EXPECT_GE(n, 500);
  EXPECT_LT(n, 10'000);
}

TEST(WriteBehind, catching_up_tells_a_failure) {
  Row row(ports, 3);
  Written written;
  written.before = [&](std::int64_t n) {
    if (n == 2) {
      ++written.rows;
      throw Failure("no");
    }
  };
  WriteBehind sinks(row, 3, true);
  sinks.add(std::make_unique<Collector>(sinks.row(), written), {0, 1, 2});
  std::string told;
  for (std::int64_t n = 0; n < 4; ++n) {
    fill(row, n);
    told += message([&] { sinks.write(); });
  }
  told += message([&] { sinks.catch_up(); });
  EXPECT_EQ(told, "no");
  EXPECT_FALSE(sinks.failed());
  EXPECT_EQ(message([&] { sinks.catch_up(); }), "");
  EXPECT_EQ(written.rows, 4);
}

TEST(WriteBehind, ends_without_catching_up) {
  for (int k = 0; k < 20; ++k) {
    Row row(ports, 3);
    Written written;
    WriteBehind sinks(row, 3, true);
    sinks.add(std::make_unique<Collector>(sinks.row(), written), {0, 1, 2});
    for (std::int64_t n = 0; n < 100 * k; ++n) {
      fill(row, n);
      sinks.write();
    }
  }
}

// Reads ahead and writes behind at once; each value is larger than a batch.
TEST(Pipeline, large_rows_go_through) {
  static constexpr std::uint64_t large[] = {300'000};
  static constexpr rml_port wide[] = {{"w", "base on c", RML_F32, 0, 0, 1, large, 300'000},
                                      {"k", "base", RML_I8, 1, 0, 0, nullptr, 1}};
  class Wide final : public RowSource {
   public:
    explicit Wide(Row& row) : row_(row) {}
    bool read() override {
      if (next_ == 200) return false;
      *static_cast<std::int8_t*>(row_.data(1)) = static_cast<std::int8_t>(next_);
      row_.set_present(1, true);
      row_.set_present(0, next_ % 20 == 0);
      static_cast<float*>(row_.data(0))[299'999] = static_cast<float>(next_++);
      return true;
    }
    Place where(std::uint32_t) const override { return {}; }
    double fraction() const override { return -1; }
    const std::string& name() const override { return name_; }

   private:
    Row& row_;
    int next_ = 0;
    const std::string name_ = "wide";
  };
  Row row(wide, 2);
  ReadAhead source(std::make_unique<Wide>(row), row, {});
  for (int n = 0; n < 200; ++n) {
    ASSERT_TRUE(source.read());
    ASSERT_EQ(*static_cast<const std::int8_t*>(source.row().data(1)), static_cast<std::int8_t>(n));
    ASSERT_EQ(source.row().is_present(0), n % 20 == 0);
    if (n % 20 != 0) continue;
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(source.row().data(0)) % 64, 0u);
    ASSERT_EQ(static_cast<const float*>(source.row().data(0))[299'999], static_cast<float>(n));
  }
  EXPECT_FALSE(source.read());
}

}  // namespace
}  // namespace rml::rt
