// Passes each row to the parts of monitoring whose options are given.
#include "runtime/monitor/monitors.h"

#include <utility>

#include "runtime/monitor/earlier_run.h"
#include "runtime/monitor/picture_file.h"

namespace rml::rt {

Monitors::Monitors(const rml_program& program, const Options& options, const Row& outputs)
    : program_(program), options_(options), outputs_(outputs) {
  if (!options.log.empty()) monitored_ports(options, outputs, "--log");
  if (options.plot.path.empty()) return;
  plotted_ = monitored_ports(options, outputs, "--plot");
  for (const std::uint32_t port : plotted_) series_.emplace_back(outputs.port(port).name);
  for (const std::string& path : options.plot_also)
    earlier_.push_back({path, earlier_run(path, outputs, plotted_, options.format)});
}

void Monitors::begin(std::int64_t cycle, const CheckpointIn* saved) {
  for (Series& series : series_)
    if (saved != nullptr) series.restore(saved->curve(series.name()));
  if (!options_.watched.empty()) watch_.emplace(options_, outputs_);
  if (!options_.log.empty()) log_.emplace(options_.log, outputs_, monitored_ports(options_, outputs_, "--log"), cycle);
}

void Monitors::row(std::int64_t cycle) {
  if (watch_) watch_->row(cycle);
  if (log_) log_->row(cycle);
  for (std::size_t k = 0; k < plotted_.size(); ++k)
    if (outputs_.is_present(plotted_[k])) series_[k].add(cycle, scalar_value(outputs_, plotted_[k]));
}

void Monitors::flush() {
  if (watch_) watch_->flush();
  if (log_) log_->flush();
}

void Monitors::draw() const {
  const PlotAddress& plot = options_.plot;
  if (plot.path.empty()) return;
  std::vector<PlottedRun> runs{{"", series_}};
  runs.insert(runs.end(), earlier_.begin(), earlier_.end());
  const std::string title = std::string(program_.name) + " (" + program_.source + ")";
  write_picture(plot.path, plot_svg(plot.title.empty() ? title : plot.title, runs, plot));
}

void Monitors::close() {
  if (std::exchange(closed_, true)) return;
  if (watch_) watch_->close();
  if (log_) log_->close();
  draw();
}

std::vector<TensorOut> Monitors::tensors() {
  std::vector<TensorOut> tensors;
  kept_.clear();
  for (const Series& series : series_) {
    const std::vector<double>& numbers = kept_.emplace_back(series.numbers());
    const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), 8 * numbers.size());
    tensors.push_back({curve_name(series.name()), RML_F64, {numbers.size()}, {bytes}});
  }
  return tensors;
}

}  // namespace rml::rt
