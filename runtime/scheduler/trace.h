// What tasks did and when, as a trace that Perfetto and chrome://tracing show: a track for each worker with what it
// computed and emitted, and a track for each task's waiting, which takes no worker.
//
// Each worker writes into a buffer of its own, made before; when it is full, what follows is dropped and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rml::rt {

class Trace {
 public:
  enum State : std::uint8_t { waiting, computing, emitting, done, failed };

  explicit Trace(unsigned workers, std::size_t events_per_worker = std::size_t{1} << 16, std::string program = "rml");

  // Before it is recorded; one thread at a time. Its number, from 0 up. place: where in the source it stands.
  std::uint32_t add_task(std::string name, std::string place = "");

  // Nanoseconds of a clock that only goes forward.
  static std::int64_t now();
  // By the worker's thread alone. count: how many values, or rounds, the time was for. Workers that it was not made
  // for drop what they record. A task is waiting or done or failed or else with one worker at a time.
  void record(unsigned worker, std::uint32_t task, State state, std::int64_t begin_ns, std::int64_t end_ns,
              std::int64_t count = 1) noexcept;

  // ---- While no thread records. ----

  std::uint64_t recorded() const;
  std::uint64_t dropped() const;
  // Forgets the events, keeps the tasks.
  void clear();
  std::string to_json() const;
  // Throws Failure.
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
