// Compares cells and chronograms, and shows their first difference.
#include "driver/checks/compare_chronograms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rml {
namespace {

Cell f64(double value) { return {Presence::present, Tensor::scalar(DType::f64, value)}; }
Cell i32(std::int32_t value) { return {Presence::present, Tensor::scalar(DType::i32, value)}; }
const Cell absent{Presence::absent, {}};
const Cell undetermined{};

TEST(CompareChronograms, FloatsMayDifferByTheTolerance) {
  EXPECT_TRUE(same_cell(f64(1.0), f64(1.0 + 1e-7), 1e-6));
  EXPECT_FALSE(same_cell(f64(1.0), f64(1.0 + 1e-5), 1e-6));
  EXPECT_TRUE(same_cell(f64(1e12), f64(1e12 + 1e5), 1e-6));
}

TEST(CompareChronograms, WhatCancelsCountsAsZero) {
  EXPECT_TRUE(same_cell(f64(0.0), f64(1e-12), 1e-6));
  EXPECT_FALSE(same_cell(f64(0.0), f64(1e-6), 1e-6));
}

TEST(CompareChronograms, SpecialFloats) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(same_cell(f64(NAN), f64(NAN), 1e-6));
  EXPECT_FALSE(same_cell(f64(NAN), f64(1.0), 1e-6));
  EXPECT_TRUE(same_cell(f64(infinity), f64(infinity), 1e-6));
  EXPECT_FALSE(same_cell(f64(infinity), f64(-infinity), 1e-6));
}

TEST(CompareChronograms, IntegersAreExact) {
  EXPECT_TRUE(same_cell(i32(1000000000), i32(1000000000), 1e-6));
  EXPECT_FALSE(same_cell(i32(1000000000), i32(1000000001), 1e-6));
}

TEST(CompareChronograms, PresenceCounts) {
  EXPECT_TRUE(same_cell(absent, absent, 1e-6));
  EXPECT_FALSE(same_cell(absent, undetermined, 1e-6));
  EXPECT_FALSE(same_cell(i32(0), absent, 1e-6));
}

TEST(CompareChronograms, MarksTheFirstDifference) {
  const Chronogram expected{{"o", {i32(1), i32(20), i32(3)}}};
  const Chronogram actual{{"o", {i32(1), i32(20), i32(4)}}};
  EXPECT_EQ(difference(expected, expected, 1e-6), "");
  EXPECT_EQ(difference(expected, actual, 1e-6),
            "expected o | 1 20 3\n"
            "actual   o | 1 20 4\n"
            "                  ^ cycle 2\n");
}

TEST(CompareChronograms, ShorterIsDifferent) {
  const Chronogram expected{{"o", {i32(1), i32(2)}}};
  const Chronogram actual{{"o", {i32(1)}}};
  EXPECT_NE(difference(expected, actual, 1e-6), "");
}

}  // namespace
}  // namespace rml
