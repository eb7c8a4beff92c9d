// Records the activities of tasks as a trace for Perfetto and chrome://tracing. There is a track
// for each worker with the computing and emitting of tasks, and a track for the waiting of each
// task, which occupies no worker.
//
// Each worker writes to a preallocated buffer of its own. When it is full, further events are
// dropped and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rml::rt {

class Trace {
 public:
  enum State : std::uint8_t { waiting, computing, emitting, done, failed };

  explicit Trace(unsigned workers, std::size_t events_per_worker = std::size_t{1} << 16, std::string program = "rml");

  // Adds a task before its first event; one thread at a time. Returns its number, from 0. place:
  // position in the source.
  std::uint32_t add_task(std::string name, std::string place = "");

  // The time of a monotonic clock, in nanoseconds.
  static std::int64_t now();
  // Called by the thread of the worker only. count: number of values or rounds in this time.
  // Events of unknown workers are dropped. A task is recorded by one worker at a time.
  void record(unsigned worker, std::uint32_t task, State state, std::int64_t begin_ns, std::int64_t end_ns,
              std::int64_t count = 1) noexcept;

  // ---- only while no thread records ----

  std::uint64_t recorded() const;
  std::uint64_t dropped() const;
  // Removes the events and keeps the tasks.
  void clear();
  std::string to_json() const;
  // Writes the trace to a file. Throws Failure.
  void write(const std::string& path) const;

 private:
  struct Event {
    std::int64_t begin, end, count;
    std::uint32_t task;
    State state;
  };
  struct alignas(128) Worker {
    std::vector<Event> events;
    std::size_t used = 0;
    std::uint64_t dropped = 0;
  };
  struct Task {
    std::string name, place;
  };

  template <typename Row>
  void rows(const Row& row) const;

  const std::string program_;
  const std::int64_t start_ = now();
  std::vector<Worker> workers_;
  std::vector<Task> tasks_;
};

}  // namespace rml::rt
