// Writing the statements of one block, one value after another.
//
// A statement is written under a path of tests: the conditions of its value's clock, then
// where in a segment the instant lies. Consecutive statements under one test share its
// branch, so a run of values on one clock costs one test:
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

using TestPath = std::vector<steps::Test>;  // outermost first; Test::positive says which side

class StepWriter {
 public:
  using Rename = std::function<steps::Test(const steps::Test&)>;  // to one that says the same
  explicit StepWriter(steps::Block& block, Rename rename = {}) : block_(block), rename_(std::move(rename)) {}
  void write(const TestPath&, steps::Statement);

 private:
  // Every test once; no if two of them never hold together.
  bool simplify(TestPath&) const;

  steps::Block& block_;
  Rename rename_;
};

// The tests that these literals hold.
TestPath tests(const std::vector<Literal>&);
// Paths that together cover exactly a set of classes of instants; none for the empty set.
std::vector<TestPath> class_paths(std::uint8_t classes);
TestPath operator+(TestPath, const TestPath&);

}  // namespace rml
