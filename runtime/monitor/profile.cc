// The format is the JSON of trace events: complete events ("X") with start and duration in
// microseconds, counters ("C") and names ("M").
#include "runtime/monitor/profile.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/base/signals.h"
#include "runtime/stream_io/bytes/byte_sink.h"

namespace rml::rt {

namespace {

using nlohmann::json;

constexpr std::chrono::microseconds period{100};
constexpr std::int64_t between_counts = 10'000'000;  // nanoseconds between two counts of the buffers
// Limit of the timeline; the totals cover the whole run.
constexpr std::size_t most_events = 1'000'000;
constexpr std::size_t lines = 12;

constexpr const char* phase_names[] = {"begin", "read rows", "compute", "hand rows out", "save"};

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1000.0; }

std::string text(const json& event) { return event.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

Profile::Profile(const rml_program& program, const rml_header& header, std::string path)
    : program_(program), header_(header), path_(std::move(path)), of_place_(program.n_places) {
  watcher_ = start_thread([this] { watch(); });
}

void Profile::watch() {
  std::unique_lock lock(mutex_);
  Clock::time_point next = start_;
  while (!stopped_) {
    sample(std::chrono::nanoseconds(Clock::now() - start_).count());
    next = std::max(next + period, Clock::now());
    stopping_.wait_until(lock, next, [this] { return stopped_; });
  }
  sample(std::chrono::nanoseconds(Clock::now() - start_).count());
}

std::int32_t Profile::current() const {
  const std::int32_t phase = phase_.load(std::memory_order_relaxed);
  if (phase != computing) return phase;
  const std::int32_t place = __atomic_load_n(&header_.place, __ATOMIC_RELAXED);
  return place > 0 && static_cast<std::uint32_t>(place) <= program_.n_places ? -place : phase;
}

// Attributes the time since the last sample to the current activity.
void Profile::sample(std::int64_t now) {
  const std::int32_t what = current();
  (what < 0 ? of_place_[static_cast<std::size_t>(-what - 1)] : of_phase_[static_cast<std::size_t>(what)]) +=
      now - seen_;
  if (!events_.empty() && events_.back().what == what && events_.back().end == seen_)
    events_.back().end = now;
  else if (events_.size() < most_events)
    events_.push_back({seen_, now, what});
  seen_ = now;
  if (events_.size() == most_events || (!counts_.empty() && now - counts_.back().at < between_counts)) return;
  counts_.push_back({now, __atomic_load_n(&header_.pushed, __ATOMIC_RELAXED),
                     __atomic_load_n(&header_.buffer_bytes, __ATOMIC_RELAXED)});
}

void Profile::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_one();
  if (watcher_.joinable()) watcher_.join();
}

std::string Profile::name(std::int32_t what) const {
  return what < 0 ? program_.places[-what - 1].message : phase_names[what];
}

std::string Profile::where(std::int32_t what) const {
  if (what >= 0 || program_.places[-what - 1].line == 0) return "";
  const rml_place& place = program_.places[-what - 1];
  return std::string(place.file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::vector<std::pair<std::int64_t, std::int32_t>> Profile::totals() const {
  std::vector<std::pair<std::int64_t, std::int32_t>> all;
  for (std::size_t k = 0; k < of_phase_.size(); ++k) all.emplace_back(of_phase_[k], static_cast<std::int32_t>(k));
  for (std::size_t k = 0; k < of_place_.size(); ++k) all.emplace_back(of_place_[k], -static_cast<std::int32_t>(k) - 1);
  std::erase_if(all, [](const auto& t) { return t.first == 0; });
  std::ranges::sort(all, std::greater());
  return all;
}

void Profile::finish(const std::vector<Beside>& beside) {
  stop();
  ByteSink out = ByteSink::open(path_, false);
  const auto event = [&](json e) {
    e["pid"] = 1;
    e["tid"] = e.value("tid", 1);
    out.append(text(e) + ",\n");
  };
  out.append("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  for (const Event& e : events_) {
    json row = {{"name", name(e.what)},
                {"cat", e.what < 0 ? "compute" : phase_names[e.what]},
                {"ph", "X"},
                {"ts", microseconds(e.begin)},
                {"dur", microseconds(e.end - e.begin)}};
    if (const std::string at = where(e.what); !at.empty()) row["args"] = {{"at", at}};
    event(std::move(row));
  }
  for (std::size_t k = 1; k < counts_.size(); ++k) {
    const Count &c = counts_[k], &before = counts_[k - 1];
    const double seconds = static_cast<double>(c.at - before.at) * 1e-9;
    event({{"name", "cycles per second"},
           {"ph", "C"},
           {"ts", microseconds(before.at)},
           {"args", {{"cycles/s", static_cast<double>(c.cycles - before.cycles) / seconds}}}});
    event({{"name", "buffers"}, {"ph", "C"}, {"ts", microseconds(c.at)}, {"args", {{"bytes", c.buffer_bytes}}}});
  }
  std::map<std::string, int> tracks;
  for (const Beside& b : beside) {
    const auto [track, is_new] = tracks.emplace(b.name, static_cast<int>(tracks.size()) + 2);
    if (is_new) event({{"name", "thread_name"}, {"ph", "M"}, {"tid", track->second}, {"args", {{"name", b.name}}}});
    const auto since = [&](Clock::time_point t) { return std::chrono::nanoseconds(t - start_).count(); };
    event({{"name", b.name},
           {"cat", "sum"},
           {"ph", "X"},
           {"tid", track->second},
           {"ts", microseconds(since(b.begin))},
           {"dur", microseconds(since(b.end) - since(b.begin))}});
  }
  event({{"name", "process_name"}, {"ph", "M"}, {"args", {{"name", program_.name}}}});
  json total = json::array();
  for (const auto& [ns, what] : totals()) {
    json row = {{"name", name(what)}, {"seconds", static_cast<double>(ns) * 1e-9}};
    if (const std::string at = where(what); !at.empty()) row["at"] = at;
    total.push_back(std::move(row));
  }
  out.append(text({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "run"}}}}));
  out.append("\n],\"otherData\":" +
             text({{"program", program_.source},
                   {"node", program_.name},
                   {"timeline", events_.size() < most_events ? "whole" : "cut"},
                   {"totals", total}}) +
             "}\n");
  out.close();
}

std::string Profile::summary() const {
  const auto all = totals();
  std::string text;
  for (std::size_t k = 0; k < std::min(lines, all.size()); ++k) {
    const auto& [ns, what] = all[k];
    char share[16];
    std::snprintf(share, sizeof share, "%6.1f %%  ", 100.0 * static_cast<double>(ns) / static_cast<double>(seen_));
    const std::string at = where(what);
    text += share + name(what) + (at.empty() ? "" : "  (" + at + ")") + "\n";
  }
  if (all.size() > lines) text += "          " + std::to_string(all.size() - lines) + " more in " + path_ + "\n";
  return text;
}

}  // namespace rml::rt
