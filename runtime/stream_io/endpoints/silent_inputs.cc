// An input has no value in a cycle without a row if its clock says so (`when not NAME`), or if its flag is derived
// from the cells (--missing absent).
#include "runtime/stream_io/endpoints/silent_inputs.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/base/failure.h"
#include "runtime/stream_io/endpoints/old_rows.h"
#include "runtime/stream_io/missing_cells.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

[[noreturn]] void fail(const Endpoint& input, const std::string& text) {
  const std::string& name = input.silence->name;
  throw Failure("--input " + input.path + ": " + (name.empty() ? "timeout" : "silent=" + name) + ": " + text,
                exit_usage);
}

// True if the clock of the port begins with `on not NAME`.
bool absent_in_silence(const rml_port& port, const std::string& name) {
  const std::string_view clock = port.clock;
  const std::string wanted = "base on not " + name;
  return clock.starts_with(wanted) &&
         (clock.size() == wanted.size() || clock.substr(wanted.size()).starts_with(" on "));
}

// True if --missing absent derives the flag, and its inputs can all be absent in the same cycle.
bool follows_from_absence(const Endpoint& input, std::uint32_t flag, const Row& row) {
  const rml_port& port = row.port(flag);
  if (input.reading.missing != Missing::absent || port.always == 0) return false;
  std::optional<bool> positive;
  for (const std::uint32_t i : input.ports) {
    const auto sampler = sampler_of(row, i);
    if (!sampler || sampler->flag != flag) continue;
    if (positive && *positive != sampler->positive) return false;
    positive = sampler->positive;
  }
  return positive.has_value();
}

bool may_be_without_row(const Endpoint& input, std::uint32_t i, const Row& row) {
  if (absent_in_silence(row.port(i), input.silence->name) || follows_from_absence(input, i, row)) return true;
  const auto sampler = sampler_of(row, i);
  const bool of_address = sampler && std::ranges::find(input.ports, sampler->flag) != input.ports.end();
  return of_address && follows_from_absence(input, sampler->flag, row);
}

void check_silence(const Endpoint& input, const Row& row) {
  const std::string& name = input.silence->name;
  if (!has_lines(input.format)) fail(input, "only rows of CSV and JSON lines are waited for one by one");
  const rml_port& flag = row.port(input.silence->port);
  if (flag.dtype != RML_BOOL || flag.rank > 0 || flag.always == 0)
    fail(input, "'" + name + "' is " + type_text(flag) + " (clock " + flag.clock +
                    "); it must be a bool that is present at every cycle");
  for (const std::uint32_t i : input.ports) {
    if (may_be_without_row(input, i, row)) continue;
    const rml_port& port = row.port(i);
    fail(input, "'" + std::string(port.name) + "' (clock " + port.clock +
                    ") would have no value in a cycle in which nothing came; declare it `" + port.name + ": " +
                    type_text(port) + " when not " + name + "`");
  }
}

}  // namespace

void assign_silent_inputs(std::vector<Endpoint>& inputs, std::vector<bool>& named, const Row& row) {
  for (Endpoint& input : inputs) {
    if (!input.silence) continue;
    if (is_regular(input))
      fail(input,
           "the rows of a file are all there; timeout and silent are for sockets, named pipes, topics and standard "
           "input");
    const std::string& name = input.silence->name;
    if (name.empty()) fail(input, "add silent=NAME, the Boolean input that is true when nothing came in time");
    std::vector<std::string> known;
    for (std::uint32_t i = 0; i < row.size(); ++i) known.emplace_back(row.port(i).name);
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) fail(input, "the node has no input '" + name + "'" + did_you_mean(name, known));
    input.silence->port = static_cast<std::uint32_t>(found - known.begin());
    if (named[input.silence->port]) fail(input, "another --input gives '" + name + "'; remove it");
    named[input.silence->port] = true;
  }
}

void check_silent_inputs(const std::vector<Endpoint>& inputs, const Row& row) {
  const bool timer = std::ranges::any_of(inputs, is_timer);
  const Endpoint* beside = nullptr;
  for (const Endpoint& input : inputs) {
    if (!input.silence) continue;
    check_silence(input, row);
    if (!timer && input.silence->timeout.count() == 0)
      fail(input,
           "the time after which a cycle begins without a row is missing: add timeout=5s, or a timer (--input "
           "NAME=timer://5s)");
    if (timer && input.silence->timeout.count() > 0)
      fail(input, "a timer begins cycles without a row already; leave out timeout, and count its ticks in the program");
    if (timer && beside != nullptr)
      fail(input, "beside a timer, the rows of one input only are waited for, and those of '" + beside->path +
                      "' are; bring the rows of both to one address");
    beside = &input;
  }
}

bool any_silent(const std::vector<Endpoint>& inputs) {
  return std::ranges::any_of(inputs, [](const Endpoint& input) { return input.silence.has_value(); });
}

void refuse_silent(const std::vector<Endpoint>& inputs, const std::string& option, const std::string& why) {
  for (const Endpoint& input : inputs)
    if (input.silence)
      throw Failure(option + ": '" + input.path + "' has silent=" + input.silence->name + ": " + why, exit_usage);
}

}  // namespace rml::rt
