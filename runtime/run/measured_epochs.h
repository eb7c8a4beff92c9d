// Measures the epochs of a run: prints a line for each, says which one is best, and when to stop.
//
// The metric of an epoch is the mean of an output over the rows of the validation, or, without
// one, over the rows that became known in the epoch, as in rmlc.training.epochs of Python.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/epochs/mean.h"
#include "runtime/options/options.h"
#include "runtime/run/validation.h"

namespace rml::rt {

class MeasuredEpochs {
 public:
  // to_error: the lines go to standard error, because rows go to standard output. Throws Failure
  // with status 2 for wrong options.
  MeasuredEpochs(const rml_program& program, const Options& options, bool to_error);

  // The inputs of the run and those of the validation.
  std::vector<Endpoint> with_inputs(const std::vector<Endpoint>& inputs) const;
  // Adds a row that the program has handed out.
  void add(const Row& row) { mean_.add(row, metric_); }
  // Call it between two cycles. True if `cycles` complete a further epoch of `rows` rows.
  bool is_due(std::int64_t cycles, std::int64_t rows) const { return rows > 0 && cycles == rows * (epochs_ + 1); }
  // Ends an epoch: validates and prints its line. True if it is better than all earlier epochs.
  bool end_epoch(const void* state);
  // True if --patience is exhausted.
  bool over() const { return patience_ && epochs_ - best_at_ >= *patience_; }

 private:
  void print(const std::string& line);

  const Options& options_;
  const rml_program& program_;
  const std::uint32_t metric_;
  const bool least_;
  const std::optional<std::int64_t> patience_;
  std::FILE* to_;  // null: nothing is printed
  std::optional<Validation> validation_;
  Mean mean_;
  std::int64_t epochs_ = 0;   // number of complete epochs
  std::int64_t best_at_ = 0;  // number of the best epoch; 0: none
  double best_ = 0;
};

}  // namespace rml::rt
