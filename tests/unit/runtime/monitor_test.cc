// Monitoring of runs: curves and their picture, event files, non-finite values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "runtime/monitor/axis.h"
#include "runtime/monitor/event_log.h"
#include "runtime/monitor/plot_svg.h"
#include "runtime/monitor/series.h"
#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

TEST(Series, is_bounded_and_loses_no_outlier) {
  Series series("loss");
  double sum = 0;
  for (int k = 0; k < 1'000'000; ++k) {
    const double value = k == 777'777 ? 1e6 : k % 10;
    sum += value;
    series.add(k, value);
  }
  EXPECT_LE(series.buckets().size(), 2048u);
  EXPECT_GE(series.buckets().size(), 1024u);
  double count = 0, total = 0, most = 0;
  for (const Bucket& b : series.buckets()) {
    EXPECT_EQ(b.last - b.first + 1, b.count);
    count += b.count;
    total += b.sum;
    most = std::max(most, b.most);
  }
  EXPECT_EQ(count, 1e6);
  EXPECT_EQ(total, sum);
  EXPECT_EQ(most, 1e6);
  EXPECT_EQ(series.buckets().back().last, 999'999);
}

TEST(Series, goes_on_where_it_was_saved) {
  Series whole("y"), first("y"), second("y");
  for (int k = 0; k < 5000; ++k) {
    whole.add(k, std::sin(k));
    (k < 3001 ? first : second).add(k, std::sin(k));
    if (k != 3000) continue;
    ASSERT_TRUE(second.restore(first.numbers()));
  }
  EXPECT_EQ(second.numbers(), whole.numbers());
  EXPECT_FALSE(second.restore({}));
  EXPECT_FALSE(second.restore({1, 0, 3}));
}

TEST(Series, counts_what_cannot_be_drawn) {
  Series series("y");
  for (const double value : {1.0, HUGE_VAL, std::nan(""), 2.0}) series.add(0, value);
  EXPECT_EQ(series.not_finite(), 2u);
  EXPECT_NE(plot_svg("t", {series}).find("(2 not finite)"), std::string::npos);
}

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Axis::Tick& tick : axis.ticks())
    if (!tick.label.empty()) labels.push_back(tick.label);
  return labels;
}

TEST(Axis, round_numbers) {
  EXPECT_EQ(labels(Axis(0, 1, false, 6)), (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(labels(Axis(-3, 11, false, 4)), (std::vector<std::string>{"0", "5", "10"}));
  EXPECT_EQ(labels(Axis(0, 120'000, false, 8)),
            (std::vector<std::string>{"0", "20k", "40k", "60k", "80k", "100k", "120k"}));
  EXPECT_EQ(labels(Axis(5, 5, false, 6)), (std::vector<std::string>{"4.6", "4.8", "5", "5.2", "5.4"}));
  EXPECT_EQ(labels(Axis(0.001, 10, true, 6)), (std::vector<std::string>{"0.001", "0.01", "0.1", "1", "10"}));
  EXPECT_EQ(labels(Axis(0.4, 6, true, 6)), (std::vector<std::string>{"0.5", "1", "2", "5"}));
  EXPECT_DOUBLE_EQ(Axis(0.001, 10, true, 6).place(0.1), 0.5);
  EXPECT_DOUBLE_EQ(Axis(0, 8, false, 6).place(2), 0.25);
}

Series curve(const std::string& name, double from, double to) {
  Series series(name);
  for (int k = 0; k < 100; ++k) series.add(k, from + (to - from) * k / 99);
  return series;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Plot, curves_of_one_size_share_a_panel) {
  EXPECT_EQ(count(plot_svg("t", {curve("a", 1, 0.5), curve("b", 1.2, 0.4)}), "<clipPath"), 1u);
  EXPECT_EQ(count(plot_svg("t", {curve("a", 1, 0), curve("b", 900, 0)}), "<clipPath"), 2u);
  const std::string magnitudes = plot_svg("t", {curve("a", 1000, 1)});
  EXPECT_NE(magnitudes.find("a (logarithmic)"), std::string::npos);
  EXPECT_EQ(plot_svg("t", {curve("a", 1, 0.5)}).find("(logarithmic)"), std::string::npos);
}

TEST(Plot, of_little_or_nothing) {
  EXPECT_NE(plot_svg("t", {}).find("no value was there to show"), std::string::npos);
  EXPECT_NE(plot_svg("t", {Series("a")}).find("no value was there to show"), std::string::npos);
  Series one("a & <b>");
  one.add(7, 3);
  const std::string svg = plot_svg("x < y", {one});
  EXPECT_NE(svg.find("<circle"), std::string::npos);
  EXPECT_NE(svg.find("a &amp; &lt;b>"), std::string::npos);
  EXPECT_NE(svg.find("x &lt; y"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(EventLog, checksum_of_the_standard) {
  // CRC-32C of "123456789" is e3069283; it is masked as in TFRecord.
  const std::uint32_t crc = 0xe3069283u;
  EXPECT_EQ(masked_crc32c("123456789"), ((crc >> 15) | (crc << 17)) + 0xa282ead8u);
}

std::string only_file_in(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) return entry.path().filename().string();
  return "";
}

TEST(EventLog, records_and_scalars) {
  const Folder folder;
  EXPECT_EQ(run(sums_program(), {"--log", folder.path("a/b")}, "x\n1\n2\n").status, 0);
  const std::string name = only_file_in(folder.path("a/b"));
  EXPECT_EQ(name.rfind("events.out.tfevents.", 0), 0u);
  const std::string bytes = folder.read("a/b/" + name);
  std::vector<std::string> messages;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length = 0;
    std::uint32_t sums[2];
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&sums[0], bytes.data() + at + 8, 4);
    messages.push_back(bytes.substr(at + 12, length));
    std::memcpy(&sums[1], bytes.data() + at + 12 + length, 4);
    EXPECT_EQ(sums[0], masked_crc32c(bytes.substr(at, 8)));
    EXPECT_EQ(sums[1], masked_crc32c(messages.back()));
    at += 16 + length;
  }
  ASSERT_EQ(messages.size(), 3u);
  // After the wall time (key and 8 bytes) follow the step and the content.
  EXPECT_EQ(messages[0].substr(9), std::string("\x10\x00\x1a\x0d"
                                               "brain.Event:2",
                                               17));
  EXPECT_EQ(messages[2].substr(9), std::string("\x10\x01\x2a\x0c\x0a\x0a\x0a\x03sum\x15\x00\x00\x40\x40", 16));
}

TEST(EventLog, a_folder_that_cannot_be_made) {
  const Folder folder;
  const std::string file = folder.write("file", "");
  const Outcome outcome = run(sums_program(), {"--log", file + "/x"}, "x\n1\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "--log " + file + "/x: Not a directory\n");
}

TEST(Monitor, only_what_can_be_shown) {
  const CopyProgram copy({{"v", RML_F32, {2}}, {"flag", RML_BOOL}});
  for (const char* option : {"--log", "--plot"}) {
    const Outcome outcome = run(copy.table(), {option, "/nowhere/x"}, "v[0],v[1],flag\n1,2,T\n");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, std::string(option) + ": no output is a scalar, so nothing can be shown\n");
  }
  const Folder folder;
  EXPECT_EQ(run(copy.table(), {"--plot", folder.path("p.svg"), "--monitor", "flag"}, "v[0],v[1],flag\n1,2,T\n").err,
            "");
  EXPECT_NE(folder.read("p.svg").find(">flag<"), std::string::npos);
}

TEST(Monitor, a_picture_also_of_a_run_that_stops) {
  const Folder folder;
  const Outcome outcome =
      run(failing_program(RML_FAULT_ASSERT), {"--plot", folder.path("p.svg")}, "x\n1\n2\n3\n4\n5\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(folder.read("p.svg").find("</svg>"), std::string::npos);
}

TEST(Monitor, the_picture_is_no_input_or_output) {
  const Folder folder;
  const std::string in = folder.write("in.csv", "x\n1\n");
  EXPECT_EQ(run(sums_program(), {"--input", in, "--plot", in}).err,
            "--plot " + in + ": the file is an input or output of this run\n");
  EXPECT_EQ(run(sums_program(), {"--plot", "/dev/null"}, "x\n1\n").err, "--plot /dev/null: not a regular file\n");
}

TEST(OnNan, stops_at_the_first) {
  const std::string input = "x\n1\n2\nnan\n4\n";
  EXPECT_EQ(run(sums_program(), {}, input).out, "sum\n1\n3\nnan\nnan\n");
  Outcome outcome = run(sums_program(), {"--on-nan", "stop"}, input);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "sum\n1\n3\n");
  EXPECT_EQ(outcome.err, "sums.rml:2:3: cycle 2: not a number: sum = x + (0 fby sum)\n");
  outcome = run(sums_program(), {"--on-nan", "stop"}, "x\n1\n-inf\n");
  EXPECT_EQ(outcome.err, "sums.rml:2:3: cycle 1: infinite: sum = x + (0 fby sum)\n");
  EXPECT_EQ(run(sums_program(), {"--on-nan", "stop"}, "x\n1\n3e38\n").status, 0);
  outcome = run(sums_program(), {"--on-nan", "stop"}, "x\n3e38\n3e38\n");
  EXPECT_EQ(outcome.status, 1);
}

TEST(OnNan, or_tells_once_and_goes_on) {
  const Outcome outcome = run(sums_program(), {"--on-nan", "continue"}, "x\n1\nnan\n4\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "sum\n1\nnan\nnan\n");
  EXPECT_EQ(outcome.err, "sums.rml:2:3: cycle 1: not a number: sum = x + (0 fby sum)\n");
}

TEST(OnNan, a_state_of_infinities_may_stay_one) {
  const Folder folder;
  const std::string state = folder.path("state");
  EXPECT_EQ(run(sums_program(), {"--save", state}, "x\ninf\n").status, 0);
  // The output is reported, but not the memory cell.
  EXPECT_EQ(run(sums_program(), {"--load", state, "--on-nan", "stop"}, "x\n1\n").err,
            "sums.rml:1:9: cycle 1: infinite: sum\n");
}

TEST(OnNan, no_state_is_saved_after_it) {
  const Folder folder;
  EXPECT_EQ(run(sums_program(), {"--on-nan", "stop", "--save", folder.path("state")}, "x\nnan\n").status, 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path("state")));
}

}  // namespace
}  // namespace rml::rt::test
