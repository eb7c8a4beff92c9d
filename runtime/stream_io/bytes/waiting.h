// Waits that end at a signal or a deadline.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace rml::rt {

using Time = std::chrono::steady_clock;
constexpr int tick_ms = 200;

inline double seconds_since(Time::time_point begin) {
  return std::chrono::duration<double>(Time::now() - begin).count();
}

// True if the descriptor becomes ready for `events`, or has an error, within this many
// milliseconds.
bool ready(int fd, short events, int milliseconds);

// Called at every tick of a wait; throws to end it.
using Check = std::function<void()>;

// Throws Interrupted after a signal.
void check_interrupt();

// Thrown when nothing came before the deadline. The source that waited can be read again.
struct Silence {};

// The moment until which a source waits for its next row.
class Deadline {
 public:
  void set(Time::time_point end) { end_ = end; }
  // The next wait in milliseconds, at most `most`.
  int part(int most) const;
  // Throws Silence if the moment has passed. After a signal it does not: the run then takes the rows that have arrived,
  // and ends.
  void check() const;

 private:
  std::optional<Time::time_point> end_;  // none: the wait has no limit
};

// Limits the time to wait for a peer after a signal.
class Grace {
 public:
  explicit Grace(double seconds) : seconds_(seconds) {}
  // True if a signal has come and the time is over.
  bool over();

 private:
  double seconds_;
  std::optional<Time::time_point> since_;
};

// Growing pauses between attempts: 20 ms, doubled up to 1 s.
class BackOff {
 public:
  void pause(const Check& check);

 private:
  int milliseconds_ = 20;
};

// "30 s", "0.5 s".
std::string seconds_text(double seconds);

}  // namespace rml::rt
