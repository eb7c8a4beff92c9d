// The interfaces of streams of bytes from and to peers, on which ByteSource and ByteSink rely.
//
// Waits check for a signal five times a second. A signal ends a wait for input with Interrupted.
// A wait for a peer to take complete rows continues for the time that the address allows
// (linger); after that, it is a failure that says what was not delivered.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/failure.h"

namespace rml::rt {

class Deadline;

// Hooks around a wait for input.
struct Waiting {
  std::function<void()> before = {};
  int cut_short = -1;                                 // file descriptor; the wait ends when it becomes readable
  std::function<void()> during = {};                  // called several times a second while the wait lasts
  std::atomic<std::int64_t>* missed_ticks = nullptr;  // counts the ticks of timers for which the run was too slow
  const Deadline* deadline = nullptr;                 // ends the wait for a row; null: the wait has no limit

  // Calls the hook that is due. waited: false before the wait.
  void tick(bool& waited) const {
    if (!std::exchange(waited, true)) {
      if (before) before();
    } else if (during) {
      during();
    }
  }
};

class ByteInput {
 public:
  virtual ~ByteInput() = default;
  // Reads at least one byte, in whole lines if there is room for them; 0 at the end.
  virtual std::size_t read(char* to, std::size_t room, const Waiting& waiting) = 0;
};

class ByteOutput {
 public:
  virtual ~ByteOutput() = default;
  virtual void write(std::string_view bytes) = 0;
  // If `early` is true, bytes written from now on may be lost, until the call with false.
  virtual void set_early(bool) {}
  // Returns when the peer has the written bytes, as far as the protocol can tell.
  virtual void flush() = 0;
  virtual void close() = 0;
};

// An error of a peer. A caller that knows the cycle can insert it: name, cycle, text.
class LostPeer : public Failure {
 public:
  LostPeer(std::string name, std::string text) : Failure(name + ": " + text), name_(name), text_(text) {}
  Failure at_cycle(std::int64_t cycle) const {
    return Failure(name_ + ": cycle " + std::to_string(cycle) + ": " + text_);
  }

  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

// A row that the stream does not hand over, because it is too long or comes from a peer with another
// header. The stream continues after it.
class RefusedRow : public LostPeer {
 public:
  // row: its beginning.
  RefusedRow(std::string name, std::string text, std::string row)
      : LostPeer(std::move(name), std::move(text)), row_(std::move(row)) {}
  const std::string& row() const { return row_; }

 private:
  std::string row_;
};
// Number of bytes that are kept of a row that is too long.
constexpr std::size_t refused_bytes = 4096;

}  // namespace rml::rt
