// Every message names the option that is missing, because these options depend on each other.
#include "runtime/options/training_options.h"

#include <CLI/CLI.hpp>

#include "runtime/base/failure.h"
#include "runtime/options/complaints.h"

namespace rml::rt {

std::string TrainingOptions::rereads() const {
  if (repeat) return "--repeat";
  if (shuffle) return "--shuffle";
  return epochs ? "--epochs" : "";
}

void add_training_options(CLI::App& app, TrainingOptions& training, const std::string& group) {
  app.add_option("--epochs", training.epochs, "read the input N times; the state continues from pass to pass")
      ->check(complaint_of_positive)
      ->type_name("N")
      ->group(group);
  app.add_flag("--repeat", training.repeat, "read the input again and again, until --cycles, --patience or a signal")
      ->group(group);
  app.add_flag("--shuffle", training.shuffle,
               "read the segments of the input in a new order in each epoch, drawn from --seed")
      ->group(group);
  app.add_option("--validate", training.validate,
                 "rows that are run after each epoch with the parameters held, from cycle 0, to compute the metric")
      ->allow_extra_args(false)
      ->type_name("[NAME=]FILE")
      ->group(group);
  app.add_option("--metric", training.metric,
                 "output whose mean over an epoch is printed, and decides which state is saved (with --validate: loss)")
      ->check(complaint_of_name)
      ->type_name("NAME")
      ->group(group);
  app.add_option("--goal", training.goal, "the best value of the metric (default: least)")
      ->check(CLI::IsMember({"least", "most"}))
      ->group(group);
  app.add_option("--patience", training.patience,
                 "stop after N successive epochs whose validation is not better than the best one")
      ->check(complaint_of_positive)
      ->type_name("N")
      ->group(group);
  app.add_option("--segments-by", training.segments_by,
                 "column of groups: the Boolean input NAME (default: end) is true in the last row of each group")
      ->check(complaint_of_name)
      ->type_name("[NAME=]COLUMN")
      ->group(group);
  app.add_option("--last", training.last, "Boolean input that is true in the last row of the input, and has no column")
      ->check(complaint_of_name)
      ->type_name("NAME")
      ->group(group);
}

void check_training_options(const TrainingOptions& training) {
  const auto refuse = [](const std::string& text) { throw Failure(text, exit_usage); };
  if (training.repeat && training.epochs) refuse("--repeat: the passes have no end; omit --epochs, or give it alone");
  if (training.patience && training.validate.empty())
    refuse("--patience: it counts epochs whose validation is not better; give the rows for it, --validate FILE");
  if (training.patience && !training.repeat && !training.epochs)
    refuse("--patience: give the greatest number of epochs, --epochs N, or --repeat");
  if (!training.goal.empty() && !training.measures()) refuse("--goal: give the metric, --metric NAME");
}

}  // namespace rml::rt
