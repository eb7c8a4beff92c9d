// Gradients held to central differences.
//
// The objective is the sum over cycles and float outputs of weight * output, with fixed random
// weights: they are what `diff f` is fed as adjoints. At each place (input or parameter, cycle,
// element) the derivative is taken from runs with that element moved by h and by h/2 either way
// (Richardson's extrapolation). Places are not compared where the function is not smooth, or
// where the run ends before the gradient is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/checks/gradient_programs.h"

namespace rml {

struct GradientOptions {
  std::uint64_t seed = 0;     // of random functions, weights, and the choice of places
  double tolerance = 1e-6;    // relative
  std::int64_t places = 100;  // the most that are compared for one name
};

struct GradientRow {
  std::string name;         // of an input, a parameter, or (values) an output
  bool value = false;       // an output: its value under `diff f` against that of f
  std::int64_t places = 0;  // where there is a gradient
  std::int64_t compared = 0;
  double error = 0;  // the largest relative one, and where and what it is:
  std::int64_t cycle = 0;
  std::string element{};  // "[1,2]", empty for a scalar
  double found = 0, expected = 0;
  bool right = true;
};

struct GradientReport {
  std::vector<GradientRow> rows;  // inputs, parameters; outputs only if they differ
  double tolerance = 0;           // that was used
  std::string stop;               // why there are none
  std::string moved_stop;         // why f stopped where an element was moved; empty: it never did
  bool right() const;
};

// `inputs` has a row of `cycles` cells for each input of f.
GradientReport check_gradients(const GradientPrograms&, const Chronogram& inputs, std::int64_t cycles,
                               const GradientOptions&);

}  // namespace rml
