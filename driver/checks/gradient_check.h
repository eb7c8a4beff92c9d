// Compares gradients with central differences.
//
// The objective is the sum over cycles and float outputs of weight * output, with fixed random weights. `diff f` gets
// the weights as adjoints. At each place (input or parameter, cycle, element) the derivative is computed from runs with
// that element moved by h and by h/2 in both directions (Richardson's extrapolation). A place is not compared if the
// function is not smooth there, or if the run ends before the gradient is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/checks/gradient_programs.h"

namespace rml {

struct GradientOptions {
  std::uint64_t seed = 0;     // seed for random functions, weights and the choice of places
  double tolerance = 1e-6;    // limit of the relative error
  std::int64_t places = 100;  // limit on the number of compared places per name
};

struct GradientRow {
  std::string name;         // name of an input, a parameter, or an output whose values are compared
  bool value = false;       // the row is about an output: its value under `diff f` against that under f
  std::int64_t places = 0;  // number of places where a gradient was compared
  std::int64_t compared = 0;
  double error = 0;  // the largest relative error; its place and its values follow
  std::int64_t cycle = 0;
  std::string element{};  // index of the element, such as "[1,2]"; empty for a scalar
  double found = 0, expected = 0;
  bool right = true;
};

struct GradientReport {
  std::vector<GradientRow> rows;  // inputs and parameters; outputs only if they differ
  double tolerance = 0;           // limit of the relative error that was applied
  std::string stop;               // the reason why there are no rows
  std::string moved_stop;         // why f stopped when an element was moved; empty if it never stopped
  bool right() const;
};

// Checks the gradients. `inputs` has a row of `cycles` cells for each input of f.
GradientReport check_gradients(const GradientPrograms&, const Chronogram& inputs, std::int64_t cycles,
                               const GradientOptions&);

}  // namespace rml
