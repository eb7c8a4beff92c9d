// Bytes from and to peers: what stands under a ByteSource or ByteSink that is no file.
//
// Waits look at the signal flag five times a second. A wait for input ends with Interrupted; a wait for
// a peer to take rows that are complete goes on for the time that the address allows (linger), then
// is a failure that says what was not delivered.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/failure.h"

namespace rml::rt {

class ByteInput {
 public:
  virtual ~ByteInput() = default;
  // At least one byte, in whole lines as long as there is room; 0 at the end. before_waiting is called once
  // before a wait.
  virtual std::size_t read(char* to, std::size_t room, const std::function<void()>& before_waiting) = 0;
};

class ByteOutput {
 public:
  virtual ~ByteOutput() = default;
  virtual void write(std::string_view bytes) = 0;
  // Whether what is written from here on may be lost, until it is said that it may not.
  virtual void set_early(bool) {}
  // What was written is with the peer as far as the protocol can say.
  virtual void flush() = 0;
  virtual void close() = 0;
};

// What went wrong with a peer. Who knows the cycle can put it in: name, cycle, text.
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

}  // namespace rml::rt
