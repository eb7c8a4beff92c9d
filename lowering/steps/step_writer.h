// Writes the statements of one block, value by value.
//
// A statement is written under a path of tests: the conditions of its value's clock, then tests of the instant's place
// in its segment. Consecutive statements under one test share its branch, so a run of values on one clock costs one
// test:
//
//     y = when c x     (path: c)          if c { y := x; z := add y 1 } else {}
//     z = y + 1        (path: c)      ⟹
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "lowering/steps/steps.h"
#include "semantics/time/segment.h"

namespace rml {

// Tests of nested branches, outermost first; Test::positive selects the side.
using TestPath = std::vector<steps::Test>;

class StepWriter {
 public:
  using Rename = std::function<steps::Test(const steps::Test&)>;  // returns an equivalent test
  explicit StepWriter(steps::Block& block, Rename rename = {}) : block_(block), rename_(std::move(rename)) {}
  void write(const TestPath&, steps::Statement);

 private:
  // Removes repeated tests. Returns false if two tests contradict each other, so that the path is never taken.
  bool simplify(TestPath&) const;

  steps::Block& block_;
  Rename rename_;
};

// The tests that check these literals.
TestPath tests(const std::vector<Literal>&);
// Paths that together cover exactly a set of classes of instants; no path for the empty set.
std::vector<TestPath> class_paths(std::uint8_t classes);
TestPath operator+(TestPath, const TestPath&);

}  // namespace rml
