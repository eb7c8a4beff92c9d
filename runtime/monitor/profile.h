// --profile: where the time of a run goes, as a trace that Perfetto and chrome://tracing show.
//
// The run says what it does: it reads rows, computes, hands rows out, saves. Compiled code keeps in
// the header which equation it computes (rml_place), if that is a large one, or else which unit or
// pass. A second thread looks at both ten thousand times a second; the run itself is not slowed down
// by more than those notes. What is the same in successive samples becomes one event.
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

  // Begins to look. The header must outlive this.
  Profile(const rml_program&, const rml_header&, std::string path);
  ~Profile() { stop(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void enter(Phase phase) { phase_.store(phase, std::memory_order_relaxed); }
  // What went on beside the run, on a line of its own.
  struct Beside {
    std::string name;
    std::chrono::steady_clock::time_point begin, end;
  };
  // Stops looking and writes the file. Throws Failure.
  void finish(const std::vector<Beside>& beside = {});
  // Once finished: the places that took most, by share, a line each.
  std::string summary() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    std::int64_t begin, end;  // ns since the start
    std::int32_t what;        // a phase, or -k for places[k - 1]
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
  // What, and for how long, longest first.
  std::vector<std::pair<std::int64_t, std::int32_t>> totals() const;

  const rml_program& program_;
  const rml_header& header_;
  const std::string path_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::int32_t> phase_ = beginning;
  std::vector<Event> events_;
  std::vector<Count> counts_;
  std::array<std::int64_t, saving + 1> of_phase_{};  // ns
  std::vector<std::int64_t> of_place_;               // likewise
  std::int64_t seen_ = 0;                            // ns: up to there it is known
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::thread watcher_;
};

}  // namespace rml::rt
