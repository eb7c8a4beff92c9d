// The rows are read as the rows of inputs with the names and types of the outputs. NumPy files have
// no absent values, so there the outputs must be present at every cycle.
#include "runtime/monitor/earlier_run.h"

#include <algorithm>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/stream_io/endpoints/endpoints.h"
#include "runtime/stream_io/endpoints/open_endpoints.h"

namespace rml::rt {
namespace {

constexpr const char* option = "--plot-also";

bool is_numpy(const std::string& path) {
  const std::size_t point = path.rfind(".np");
  const std::string suffix = point == path.npos ? "" : path.substr(point);
  return suffix == ".npy" || suffix == ".npz" || suffix == ".npy.gz" || suffix == ".npz.gz";
}

constexpr const char* remedy = "; choose the outputs that the picture shows with --monitor";

// Passes on the message of a reader, which speaks of inputs.
[[noreturn]] void fail(const std::string& path, std::string message, int status) {
  const std::string words[][2] = {
      {"--input " + path + ": ", ""}, {" for input '", " for output '"}, {" but input '", " but output '"}};
  for (const auto& [from, to] : words)
    if (const std::size_t at = message.find(from); at != message.npos) message.replace(at, from.size(), to);
  const bool lacks = message.find(" for output '") != message.npos;
  throw Failure(std::string(option) + " " + path + ": " + message + (lacks ? remedy : ""), status);
}

std::vector<Series> read_all(const std::string& path, Row& row, const std::string& format) {
  // An argument with '=' would name one of the outputs.
  const std::string argument = path.find('=') == path.npos || path[0] == '/' ? path : "./" + path;
  const auto files = plan_endpoints(Direction::in, {argument}, format, row);
  const auto source = open_sources(files, row, {});
  std::vector<Series> series;
  for (std::uint32_t i = 0; i < row.size(); ++i) series.emplace_back(row.port(i).name);
  for (std::int64_t cycle = 0; source->read(); ++cycle) {
    row.set_always_present();
    for (std::uint32_t i = 0; i < row.size(); ++i)
      if (row.is_present(i)) series[i].add(cycle, scalar_value(row, i));
  }
  return series;
}

// JSON lines do not say which outputs they have.
void require_values(const std::string& path, const std::vector<Series>& series, const Row& outputs,
                    const std::vector<std::uint32_t>& plotted) {
  const bool any = std::any_of(series.begin(), series.end(), [](const Series& s) { return !s.buckets().empty(); });
  for (std::size_t k = 0; any && k < series.size(); ++k)
    if (series[k].buckets().empty() && outputs.port(plotted[k]).always)
      throw Failure(std::string(option) + " " + path + ": no row has a value of output '" + series[k].name() + "'" +
                    remedy);
}

}  // namespace

std::vector<Series> earlier_run(const std::string& path, const Row& outputs, const std::vector<std::uint32_t>& plotted,
                                const std::string& format) {
  refuse_special_file(option, path);
  if (path.find("://") != path.npos) throw Failure(std::string(option) + " " + path + ": not a file", exit_usage);
  std::vector<rml_port> ports;
  for (const std::uint32_t i : plotted) {
    rml_port port = outputs.port(i);
    if (!is_numpy(path)) port.always = 0;
    ports.push_back(port);
  }
  Row row(ports.data(), static_cast<std::uint32_t>(ports.size()));
  std::vector<Series> series;
  try {
    series = read_all(path, row, format);
  } catch (const Failure& failure) {
    fail(path, failure.what(), failure.status());
  }
  require_values(path, series, outputs, plotted);
  return series;
}

}  // namespace rml::rt
