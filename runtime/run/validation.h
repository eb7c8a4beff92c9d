// Runs a program over the rows of --validate, with the parameters of a program that learns.
//
// The run begins at cycle 0. After each cycle, every parameter gets its value back, so the program
// does not learn from these rows. Its other state begins as in a new run. The inputs are read as
// those of the run itself: the same format, --segments-by and --last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/rmlrt.h"
#include "runtime/epochs/input_rows.h"
#include "runtime/options/options.h"

namespace rml::rt {

class Validation {
 public:
  // metric: an output. Throws Failure for wrong options, and if the parameters of the program are
  // not cells.
  Validation(const rml_program& program, const Options& options, std::uint32_t metric);

  const std::vector<Endpoint>& inputs() const { return rows_.endpoints(); }
  // The mean of the metric. learner: the state of the program that learns, between two cycles.
  // Throws Failure for wrong rows, a fault, or if the metric is never present.
  double mean(const void* learner);

 private:
  const rml_program& program_;
  const Options& options_;
  const std::uint32_t metric_;
  Row out_;
  InputRows rows_;
};

}  // namespace rml::rt
