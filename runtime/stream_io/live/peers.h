// Where peers are met: sockets that connect, sockets that listen, named pipes.
//
// One peer at a time. Inputs that go on with the next peer listen all the while: others wait their turn. Where one is
// enough, the address does not listen while it is served, so the system refuses others. A peer that was accepted before
// that, which its system took for an answer, is served in turn: no peer's rows are thrown away.
#pragma once

#include <memory>
#include <utility>

#include "runtime/stream_io/live/address.h"
#include "runtime/stream_io/live/waiting.h"

namespace rml::rt {

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  void reset();
  int release() { return std::exchange(fd_, -1); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

class Peers {
 public:
  virtual ~Peers() = default;
  // The next one, not blocking, instead of the one that `connection` was. Throws LostPeer if there is
  // none for the time that the address allows.
  virtual void next(Descriptor& connection, const Check& check) = 0;
  // No new peer is accepted.
  virtual void stop() {}
  // Those who were let in and not served yet.
  virtual bool any_waiting() const { return false; }
  // The next one of them, if there is one.
  virtual bool take_waiting(Descriptor&) { return false; }
};

// Listens at once where the address listens.
std::unique_ptr<Peers> peers_at(const Address& address, Direction direction);

}  // namespace rml::rt
