// Connects to peers: by sockets that connect, sockets that listen, and named pipes.
//
// One peer is served at a time. An input with `reconnect` listens all the time, so that further
// peers wait in a queue. Without it, the address stops listening when a peer is accepted, and the
// system refuses others. A peer whose connection the system had already accepted by then is
// served afterwards, so that no rows are lost.
#pragma once

#include <memory>
#include <utility>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/bytes/waiting.h"

namespace rml::rt {

// Owns a file descriptor and closes it.
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
  // Closes `connection` and sets it to that of the next peer, in non-blocking mode. Throws
  // LostPeer if no peer comes within the time that the address allows.
  virtual void next(Descriptor& connection, const Check& check) = 0;
  // A descriptor that becomes readable when a peer connects; -1 if the address does not listen.
  virtual int listener() const { return -1; }
  // Stops accepting new peers.
  virtual void stop() {}
  // True if there are accepted peers that were not served yet.
  virtual bool any_waiting() const { return false; }
  // Takes the next accepted peer; false if there is none.
  virtual bool take_waiting(Descriptor&) { return false; }
};

// The peers at an address. If the address listens, it starts immediately.
std::unique_ptr<Peers> peers_at(const Address& address, Direction direction);

}  // namespace rml::rt
