// The lines are CSV: epoch, the mean over the rows of the epoch, that over the validation, and
// whether the epoch is the best so far.
#include "runtime/run/measured_epochs.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>

#include "runtime/base/failure.h"
#include "runtime/base/signals.h"
#include "runtime/ranks/ranks.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

constexpr const char* usual_metric = "loss";

std::uint32_t metric_of(const rml_program& program, const TrainingOptions& training) {
  const std::string name = training.metric.empty() ? usual_metric : training.metric;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < program.n_outputs - program.n_watched; ++i) {
    if (name == program.outputs[i].name) return i;
    names.emplace_back(program.outputs[i].name);
  }
  if (training.metric.empty())
    throw Failure("--validate: the node has no output 'loss'; name the output to compare, --metric NAME", exit_usage);
  throw Failure("--metric " + name + ": no output '" + name + "'" + did_you_mean(name, names), exit_usage);
}

}  // namespace

MeasuredEpochs::MeasuredEpochs(const rml_program& program, const Options& options, bool to_error)
    : options_(options),
      program_(program),
      metric_(metric_of(program, options.training)),
      least_(options.training.goal != "most"),
      patience_(options.training.patience),
      to_(!options.writes || (to_error && options.quiet) ? nullptr
          : to_error                                     ? stderr
                                                         : stdout) {
  const std::string option = options.training.validate.empty() ? "--metric" : "--validate";
  if (program.network != nullptr)
    throw Failure(option + ": the tasks of the network are in different epochs; build the program without --parallel",
                  exit_usage);
  if (options.among != nullptr && options.among->transport().ranks() > 1)
    throw Failure(option + ": each rank has only a part of the rows; run on one rank", exit_usage);
  if (!options.training.validate.empty()) validation_.emplace(program, options, metric_);
}

std::vector<Endpoint> MeasuredEpochs::with_inputs(const std::vector<Endpoint>& inputs) const {
  std::vector<Endpoint> all = inputs;
  if (validation_) all.insert(all.end(), validation_->inputs().begin(), validation_->inputs().end());
  return all;
}

void MeasuredEpochs::print(const std::string& line) {
  if (to_ == nullptr) return;
  if (std::fputs(line.c_str(), to_) >= 0 && std::fflush(to_) == 0) return;
  if (errno != EPIPE) throw Failure(std::string("cannot write standard output: ") + std::strerror(errno));
  note_closed_pipe();
  to_ = nullptr;
}

bool MeasuredEpochs::end_epoch(const void* state) {
  const std::string name = program_.outputs[metric_].name;
  if (mean_.empty() && !validation_)
    throw Failure("--metric " + name + ": '" + name + "' has no value in epoch " + std::to_string(epochs_ + 1) +
                  "; it must be present in some rows that are known at the end of the epoch");
  const std::string trained = mean_.empty() ? "" : double_text(mean_.value());
  const double value = validation_ ? validation_->mean(state) : mean_.value();
  mean_ = Mean();
  if (++epochs_ == 1) print("epoch," + name + (validation_ ? ",validation" : "") + ",best\n");
  const bool best = !std::isnan(value) && (best_at_ == 0 || (least_ ? value < best_ : value > best_));
  if (best) {
    best_at_ = epochs_;
    best_ = value;
  }
  print(std::to_string(epochs_) + "," + trained + (validation_ ? "," + double_text(value) : "") + "," +
        (best ? "true" : "false") + "\n");
  return best;
}

}  // namespace rml::rt
