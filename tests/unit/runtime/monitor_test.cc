// Monitoring of runs: curves and their picture, event files, non-finite values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include "runtime/base/failure.h"
#include "runtime/monitor/axis.h"
#include "runtime/monitor/comparable.h"
#include "runtime/monitor/curve.h"
#include "runtime/monitor/event_log.h"
#include "runtime/monitor/plot_svg.h"
#include "runtime/monitor/series.h"
#include "runtime/options/plot_address.h"
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
  EXPECT_LE(series.buckets().size(), 1024u);
  EXPECT_GE(series.buckets().size(), 512u);
  double count = 0, total = 0, most = 0;
  for (const Bucket& b : series.buckets()) {
    EXPECT_EQ(b.last - b.first + 1, b.count);
    EXPECT_EQ(b.opening, static_cast<int>(b.first) % 10);
    EXPECT_EQ(b.closing, static_cast<int>(b.last) % 10);
    EXPECT_EQ(b.least, static_cast<int>(b.at_least) % 10);
    for (const double sample : b.samples) EXPECT_TRUE((sample >= 0 && sample < 10) || sample == 1e6);
    count += b.count;
    total += b.sum;
    if (b.most <= most) continue;
    most = b.most;
    EXPECT_TRUE(most < 1e6 || b.at_most == 777'777);
  }
  EXPECT_EQ(count, 1e6);
  EXPECT_EQ(total, sum);
  EXPECT_EQ(most, 1e6);
  EXPECT_EQ(series.buckets().back().last, 999'999);
  EXPECT_EQ(series.closing(), 9);
  EXPECT_LE(series.excerpts().all().size(), 32u);
  for (const std::vector<double>& excerpt : series.excerpts().all())
    for (std::size_t k = 1; k < excerpt.size(); ++k)
      EXPECT_EQ(static_cast<int>(excerpt[k]), (static_cast<int>(excerpt[k - 1]) + 1) % 10);
}

// Every sample of a bucket is kept with the same probability: the mean of all samples is near that
// of the values, though these depend on the position.
TEST(Series, samples_are_fair) {
  Series series("y");
  for (int k = 0; k < 300'000; ++k) series.add(k, k % 64);
  double sum = 0, count = 0;
  for (const Bucket& b : series.buckets()) {
    for (std::size_t k = 0; k < b.sampled(); ++k) {
      sum += b.samples[k];
      ++count;
    }
  }
  EXPECT_NEAR(sum / count, 31.5, 1.5);  // five standard deviations of 4,700 samples are 1.3
}

TEST(Series, a_rare_output_keeps_each_value) {
  Series series("validation");
  for (int k = 0; k < 1000; ++k) series.add(1000 * k, k);
  ASSERT_EQ(series.buckets().size(), 1000u);
  for (const Bucket& b : series.buckets()) EXPECT_EQ(b.count, 1);
}

TEST(Series, goes_on_where_it_was_saved) {
  Series whole("y"), first("y"), second("y");
  for (int k = 0; k < 5000; ++k) {
    const double value = k % 97 == 5 ? std::nan("") : std::sin(k);
    whole.add(k, value);
    (k < 3001 ? first : second).add(k, value);
    if (k != 3000) continue;
    ASSERT_TRUE(second.restore(first.numbers()));
  }
  EXPECT_EQ(second.numbers(), whole.numbers());
  EXPECT_FALSE(second.restore({}));
  EXPECT_FALSE(second.restore({1, 0, 3}));
  EXPECT_FALSE(second.restore({-2, 1, 0, 1, 0, 0}));
  EXPECT_FALSE(second.restore({-2, 1, 0, 1e300, 0, 0}));
  EXPECT_FALSE(second.restore({-3, 1, 0, 0, 0, 1}));
}

// Two buckets as version 0.1 saved them: size, not finite; first, last, count, sum, least, most.
TEST(Series, continues_one_of_an_earlier_version) {
  Series series("y");
  ASSERT_TRUE(series.restore({4, 1, 0, 3, 4, 20, 2, 9, 4, 7, 4, 40, 8, 12}));
  EXPECT_EQ(series.not_finite(), 1u);
  double count = 0;
  for (const Bucket& b : series.buckets()) count += b.count;
  EXPECT_EQ(count, 8);
  EXPECT_EQ(series.buckets().front().least, 2);
  series.add(8, 11);
  EXPECT_EQ(series.closing(), 11);
  EXPECT_FALSE(series.restore({4, 1, 3, 0, 4, 20, 2, 9}));
}

std::string plot(const std::vector<Series>& series, const PlotAddress& form = {}) {
  return plot_svg("t", {{"", series}}, form);
}

TEST(Series, counts_what_cannot_be_drawn) {
  Series series("y");
  for (const double value : {1.0, HUGE_VAL, std::nan(""), 2.0}) series.add(0, value);
  EXPECT_EQ(series.not_finite(), 2u);
  EXPECT_NE(plot({series}).find("(2 not finite)"), std::string::npos);
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
  EXPECT_EQ(labels(Axis(0.001, 0.001, false, 4)), (std::vector<std::string>{"0.0009", "0.001", "0.0011"}));
  EXPECT_EQ(labels(Axis(0.3, 0.1 + 0.2, false, 6)), (std::vector<std::string>{"0.28", "0.3", "0.32"}));
  EXPECT_EQ(labels(Axis(0, 1, false, 6, 1)), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(labels(Axis(1'000'000, 1'000'004, false, 4)),
            (std::vector<std::string>{"1M", "1.000001M", "1.000002M", "1.000003M", "1.000004M"}));
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

Series made(const std::string& name, int rows, const std::function<double(int)>& value) {
  Series series(name);
  for (int k = 0; k < rows; ++k) series.add(k, value(k));
  return series;
}

// Reproducible noise between -1 and 1.
double noise(int k) {
  const std::uint64_t x = (static_cast<std::uint64_t>(k) + 1) * 0x9e3779b97f4a7c15u;
  return static_cast<double>(((x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u) >> 11) * 0x1p-52 - 1;
}

TEST(Plot, curves_of_one_size_share_a_panel) {
  EXPECT_EQ(count(plot({curve("a", 1, 0.5), curve("b", 1.2, 0.4)}), "<clipPath"), 1u);
  EXPECT_EQ(count(plot({curve("a", 1, 0), curve("b", 900, 0)}), "<clipPath"), 2u);
  // A constant shares the panel of a curve that crosses it.
  EXPECT_EQ(count(plot({curve("a", 1, 0), curve("b", 0.5, 0.5)}), "<clipPath"), 1u);
  EXPECT_EQ(count(plot({curve("a", 1, 0), curve("b", 5, 5)}), "<clipPath"), 2u);
}

TEST(Plot, training_and_validation_share_a_panel) {
  for (const char* validation : {"val_loss", "loss_test", "validation.loss", "held.loss"}) {
    const bool related = std::string(validation) != "held.loss";
    const std::string svg = plot({curve("train_loss", 900, 0.5), curve(validation, 3, 2)});
    EXPECT_EQ(count(svg, "<clipPath"), related ? 1u : 2u) << validation;
  }
  EXPECT_EQ(measured_quantity("loss"), "loss");
  EXPECT_EQ(measured_quantity("Val_accuracy"), "accuracy");
  EXPECT_EQ(measured_quantity("train"), measured_quantity("test"));
}

TEST(Plot, scale) {
  const auto decay = made("a", 1000, [](int k) { return 1000 * std::exp(-k / 100.0); });
  EXPECT_NE(plot({decay}).find("a (logarithmic)"), std::string::npos);
  EXPECT_EQ(plot({decay}, {"", PlotAddress::Scale::linear, {}, ""}).find("(logarithmic)"), std::string::npos);
  // A straight line is shown as one.
  EXPECT_EQ(plot({curve("a", 1000, 1)}).find("(logarithmic)"), std::string::npos);
  EXPECT_EQ(plot({curve("a", 1, 0.5)}).find("(logarithmic)"), std::string::npos);
  const PlotAddress log{"", PlotAddress::Scale::logarithmic, {}, ""};
  EXPECT_NE(plot({curve("a", 1, 0.5)}, log).find("a (logarithmic)"), std::string::npos);
  for (const double low : {0.0, -5.0}) {
    const std::string svg = plot({curve("a", 1, low), curve("b", -2, -2), curve("c", 0, 0)}, log);
    EXPECT_NE(svg.find("(values ≤ 0 not shown)"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
}

// A smooth line has a band.
bool is_smoothed(const std::string& svg) { return svg.find("fill-opacity=\"0.12\"") != std::string::npos; }

TEST(Plot, only_noise_is_smoothed) {
  const auto sine = [](double speed) { return [=](int k) { return std::sin(speed * k); }; };
  for (const int rows : {100, 1000, 20'000}) {
    for (const double speed : {0.001, 0.05, 0.8, 3.0}) EXPECT_FALSE(is_smoothed(plot({made("y", rows, sine(speed))})));
    EXPECT_FALSE(is_smoothed(plot({made("y", rows, [](int k) { return std::exp(-k * 1e-3); })})));
    EXPECT_FALSE(is_smoothed(plot({made("y", rows, [](int k) { return k % 23; })})));
    EXPECT_FALSE(is_smoothed(plot({made("y", rows, [](int k) { return k / 37 % 2; })})));
    EXPECT_TRUE(is_smoothed(plot({made("y", rows, noise)})));
    EXPECT_TRUE(is_smoothed(plot({made("y", rows, [](int k) { return std::sin(0.001 * k) + 0.3 * noise(k); })})));
  }
  EXPECT_FALSE(is_smoothed(plot({made("y", 10, noise)})));  // too few
}

// Every value of a clean curve is a point of its line.
TEST(Plot, a_clean_curve_is_drawn_as_it_is) {
  const Series series = made("y", 500, [](int k) { return k < 250 ? 0 : 1; });
  const Curve curve = curve_of(series, "y", false);
  ASSERT_EQ(curve.points(), 500u);
  for (int k = 0; k < 500; ++k) EXPECT_EQ(curve.values[0][static_cast<std::size_t>(k)].value, k < 250 ? 0 : 1);
}

TEST(Plot, the_smooth_line_follows_an_oscillation) {
  const Series series = made("y", 1000, [](int k) { return std::sin(0.1 * k) + 0.3 * noise(k); });
  const Curve curve = curve_of(series, "y", false);
  ASSERT_TRUE(curve.is_noisy());
  double worst = 0, inside = 0;
  for (std::size_t k = 0; k < 1000; ++k) {
    const Smooth& s = curve.smooth[0][k];
    if (k > 0 && k < 999) worst = std::max(worst, std::fabs(s.line - std::sin(0.1 * static_cast<double>(k))));
    inside += s.low <= curve.values[0][k].value && curve.values[0][k].value <= s.high ? 1 : 0;
  }
  EXPECT_LT(worst, 0.3);
  EXPECT_GT(inside, 700);
  EXPECT_LT(inside, 900);
}

TEST(Plot, values_that_are_not_finite_leave_a_gap) {
  const Series series = made("y", 90, [](int k) { return k / 30 == 1 ? std::nan("") : k; });
  const Curve curve = curve_of(series, "y", false);
  ASSERT_EQ(curve.values.size(), 2u);
  EXPECT_EQ(curve.values[0].back().cycle, 29);
  EXPECT_EQ(curve.values[1].front().cycle, 60);
}

TEST(Plot, the_legend_has_the_last_value) {
  const Series series = made("loss", 300, [](int k) { return k == 299 ? 758.3 : 900 + 100 * noise(k); });
  EXPECT_NE(plot({series}).find("<tspan class=\"value\" dx=\"9\">758.3</tspan>"), std::string::npos);
}

TEST(Plot, runs_beside_each_other) {
  const std::string svg =
      plot_svg("t", {{"", {curve("a", 1, 0), curve("b", 1, 0)}}, {"old.csv", {curve("a", 1, 0.5), curve("b", 3, 2)}}});
  EXPECT_EQ(count(svg, "<clipPath"), 2u);
  EXPECT_NE(svg.find(">a of old.csv<"), std::string::npos);
  EXPECT_NE(svg.find(">b of old.csv<"), std::string::npos);
}

TEST(Plot, size) {
  std::vector<Series> many;
  for (int k = 0; k < 12; ++k) many.push_back(curve("y" + std::to_string(k), 0, std::pow(10.0, k)));
  EXPECT_EQ(count(plot(many), "<clipPath"), 12u);
  const std::string svg = plot(many, {"", PlotAddress::Scale::automatic, PlotAddress::Size{1200, 900}, ""});
  EXPECT_NE(svg.find("width=\"1200.00\" height=\"900.00\""), std::string::npos);
  EXPECT_EQ(count(svg, "<clipPath"), 12u);
  const std::string small = plot(many, {"", PlotAddress::Scale::automatic, PlotAddress::Size{200, 200}, ""});
  EXPECT_EQ(count(small, "<clipPath"), 1u);
  EXPECT_NE(small.find("11 more panels"), std::string::npos);
  EXPECT_EQ(small.find("=\"-"), std::string::npos);
}

TEST(Plot, of_little_or_nothing) {
  EXPECT_NE(plot({}).find("no value was there to show"), std::string::npos);
  EXPECT_NE(plot({Series("a")}).find("no value was there to show"), std::string::npos);
  Series nothing("a");
  nothing.add(0, std::nan(""));
  EXPECT_NE(plot({nothing}).find("no value was there to show"), std::string::npos);
  EXPECT_NE(plot({nothing, curve("b", 0, 1)}).find(">no finite value: a<"), std::string::npos);
  EXPECT_EQ(plot({curve("b", 0, 1)}).find("no finite value"), std::string::npos);
  Series one("a & <b>");
  one.add(7, 3);
  const std::string svg = plot_svg("x < y\x01", {{"", {one}}});
  EXPECT_NE(svg.find("<circle"), std::string::npos);
  EXPECT_NE(svg.find("a &amp; &lt;b>"), std::string::npos);
  EXPECT_NE(svg.find("x &lt; y\\u{1}"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

PlotAddress address(const std::string& text) { return parse_plot_address(text); }
std::string refused(const std::string& text) {
  try {
    parse_plot_address(text);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), 2);
    return failure.what();
  }
  return "";
}

TEST(PlotAddress, fields) {
  EXPECT_EQ(address("p.svg").path, "p.svg");
  EXPECT_EQ(address("").path, "");
  const PlotAddress all = address("a/p.png?scale=log&size=640x480&title=Two%20runs%26more");
  EXPECT_EQ(all.path, "a/p.png");
  EXPECT_EQ(all.scale, PlotAddress::Scale::logarithmic);
  ASSERT_TRUE(all.size);
  EXPECT_EQ(all.size->width, 640u);
  EXPECT_EQ(all.size->height, 480u);
  EXPECT_EQ(all.title, "Two runs&more");
  EXPECT_EQ(address("p.svg?scale=linear").scale, PlotAddress::Scale::linear);
}

TEST(PlotAddress, wrong_fields) {
  EXPECT_EQ(refused("p.svg?scale=foo"), "--plot p.svg?scale=foo: 'scale=foo': the scale is log or linear");
  for (const char* size : {"0x0", "900", "900x", "x500", "900x500x1", "-1x500", "900x100000", "99999999999x500"})
    EXPECT_EQ(refused("p.svg?size=" + std::string(size)),
              "--plot p.svg?size=" + std::string(size) + ": 'size=" + size +
                  "': the size is WIDTHxHEIGHT in pixels, each from 200 to 20000, such as size=900x500");
  EXPECT_EQ(refused("p.svg?sise=900x500"),
            "--plot p.svg?sise=900x500: unknown field 'sise' (the fields are scale, size and title); did you mean "
            "'size'?");
  EXPECT_EQ(refused("p.svg?scale"), "--plot p.svg?scale: 'scale' needs a value: scale=…");
  EXPECT_EQ(refused("p.svg?title="), "--plot p.svg?title=: 'title' needs a value: title=…");
  EXPECT_EQ(refused("?scale=log"), "--plot ?scale=log: the file is missing: FILE?scale=log");
  EXPECT_EQ(refused("p.svg?title=%zz"),
            "--plot p.svg?title=%zz: '%' needs two hexadecimal digits after it (a percent sign is %25)");
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
