// Computing and emitting are complete events ("X") of the worker's thread. Waiting is a pair of
// asynchronous events ("b", "e") with the number of the task, since many tasks wait at the same
// time. Ends are instant events ("i").
#include "runtime/scheduler/trace.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "runtime/stream_io/bytes/byte_sink.h"

namespace rml::rt {

namespace {

using nlohmann::json;

constexpr const char* state_names[] = {"waiting", "computing", "emitting", "done", "failed"};

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1000.0; }

std::string text(const json& event) { return event.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

Trace::Trace(unsigned workers, std::size_t events_per_worker, std::string program)
    : program_(std::move(program)), workers_(workers) {
  for (Worker& worker : workers_) worker.events.resize(events_per_worker);
}

std::uint32_t Trace::add_task(std::string name, std::string place) {
  tasks_.push_back({std::move(name), std::move(place)});
  return static_cast<std::uint32_t>(tasks_.size() - 1);
}

std::int64_t Trace::now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Trace::record(unsigned worker, std::uint32_t task, State state, std::int64_t begin_ns, std::int64_t end_ns,
                   std::int64_t count) noexcept {
  if (worker >= workers_.size()) return;
  Worker& own = workers_[worker];
  if (own.used == own.events.size())
    ++own.dropped;
  else
    own.events[own.used++] = {begin_ns, end_ns, count, task, state};
}

std::uint64_t Trace::recorded() const {
  std::uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.used;
  return sum;
}

std::uint64_t Trace::dropped() const {
  std::uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.dropped;
  return sum;
}

void Trace::clear() {
  for (Worker& worker : workers_) worker.used = worker.dropped = 0;
}

template <typename Row>
void Trace::rows(const Row& row) const {
  row({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", program_}}}});
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const json name = {{"name", "worker " + std::to_string(w)}};
    row({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", w + 1}, {"args", name}});
    for (std::size_t k = 0; k < workers_[w].used; ++k) {
      const Event& e = workers_[w].events[k];
      json event = {{"pid", 1}, {"tid", w + 1}, {"cat", state_names[e.state]}, {"ts", microseconds(e.begin - start_)}};
      event["name"] = e.task < tasks_.size() ? tasks_[e.task].name : "task " + std::to_string(e.task);
      json args = {{"task", e.task}, {"count", e.count}};
      if (e.task < tasks_.size() && !tasks_[e.task].place.empty()) args["place"] = tasks_[e.task].place;
      event["args"] = std::move(args);
      if (e.state == computing || e.state == emitting) {
        event["ph"] = "X";
        event["dur"] = microseconds(e.end - e.begin);
      } else if (e.state == waiting) {
        event["id"] = e.task;
        event["ph"] = "b";
        row(event);
        event["ph"] = "e";
        event["ts"] = microseconds(e.end - start_);
        event.erase("args");
      } else {
        event["ph"] = "i";
        event["s"] = "t";
      }
      row(event);
    }
  }
}

std::string Trace::to_json() const {
  std::string all = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const char* between = "";
  rows([&](const nlohmann::json& event) {
    all += between + text(event);
    between = ",\n";
  });
  return all + "\n],\"otherData\":" + text({{"recorded", recorded()}, {"dropped", dropped()}}) + "}\n";
}

void Trace::write(const std::string& path) const {
  ByteSink out = ByteSink::open(path, false);
  out.append(to_json());
  out.close();
}

}  // namespace rml::rt
