// Ends the waits of another thread for input (Waiting::cut_short), permanently.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

namespace rml::rt {

class WakeUp {
 public:
  WakeUp() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~WakeUp() {
    if (fd_ >= 0) ::close(fd_);
  }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  // a descriptor that becomes readable; -1: not available, and waits last until the next check for
  // signals
  int fd() const { return fd_; }
  void ring() const { eventfd_write(fd_, 1); }

 private:
  int fd_;
};

}  // namespace rml::rt
