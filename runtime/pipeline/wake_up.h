// Ends another thread's wait for input (Waiting::cut_short), once and for all.
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

  int fd() const { return fd_; }  // -1: the system has none; waits then last until the next look for signals
  void ring() const { eventfd_write(fd_, 1); }

 private:
  int fd_;
};

}  // namespace rml::rt
