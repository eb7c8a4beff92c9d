// Records how a run spends its time, as a trace for Perfetto and chrome://tracing (--profile).
//
// The run stores its current phase: reading rows, computing, handing rows out, or saving.
// Compiled code stores in the header which equation it computes (rml_place) if the equation is
// large, otherwise which unit or pass. A second thread samples both ten thousand times a second,
// so the run itself only pays for storing them. Equal successive samples become one event.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

class Profile {
 public:
  enum Phase : std::int32_t { beginning, reading, computing, writing, saving };

  // Starts sampling. The header must outlive this object.
  Profile(const rml_program&, const rml_header&, std::string path);
  ~Profile() { stop(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void enter(Phase phase) { phase_.store(phase, std::memory_order_relaxed); }
  // An activity beside the run, shown on a line of its own.
  struct Beside {
    std::string name;
    std::chrono::steady_clock::time_point begin, end;
  };
  // Stops sampling and writes the file. Throws Failure.
  void finish(const std::vector<Beside>& beside = {});
  // After finish: the places with the largest shares of time, one line each.
  std::string summary() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    std::int64_t begin, end;  // nanoseconds since the start
    std::int32_t what;        // a phase of the run, or -k for places[k - 1]
  };
  struct Count {
    std::int64_t at, cycles, buffer_bytes;
  };

  void watch();
  void sample(std::int64_t now);
  void stop();
  std::int32_t current() const;
  std::string name(std::int32_t what) const;
  std::string where(std::int32_t what) const;
  // Time and activity (as Event::what), longest first.
  std::vector<std::pair<std::int64_t, std::int32_t>> totals() const;

  const rml_program& program_;
  const rml_header& header_;
  const std::string path_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::int32_t> phase_ = beginning;
  std::vector<Event> events_;
  std::vector<Count> counts_;
  std::array<std::int64_t, saving + 1> of_phase_{};  // time in each phase, in nanoseconds
  std::vector<std::int64_t> of_place_;               // time in each place, in nanoseconds
  std::int64_t seen_ = 0;                            // end of the last sample, in nanoseconds
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::thread watcher_;
};

}  // namespace rml::rt
