// Locks the files that a run writes: a second run that would write one of them is refused, with
// the number of the process that holds the lock.
//
// Problem: a second run that resumes the same state cuts the output of the first one, and both
// overwrite each other's rows. Method: flock, which the system releases however a process ends,
// so no lock becomes stale. A file that is written in place is locked by the descriptor that
// writes it. A state is replaced as a whole, so its lock must outlive the file: an empty file
// beside it, `.NAME.rmllock`, holds the lock and is removed when the run ends. If the file system
// has no locks, or the lock file cannot be created, runs proceed without a lock.
#pragma once

#include <string>

namespace rml::rt {

// Locks the file of an open descriptor until that is closed, if it is a regular file and not a
// standard stream of the process, which the parent process may share. `name` is quoted in the
// message. Throws Failure if another process holds the lock.
void lock_file(int descriptor, const std::string& name);

// Throws as lock_file would, without keeping a lock.
void require_unlocked(const std::string& path);

// The lock for a file that is replaced as a whole.
class NameLock {
 public:
  explicit NameLock(const std::string& path);
  NameLock(NameLock&& other) noexcept;
  NameLock(const NameLock&) = delete;
  NameLock& operator=(const NameLock&) = delete;
  ~NameLock();

 private:
  std::string lock_;  // path of the lock file beside it
  int fd_ = -1;       // descriptor of the lock file; -1: not locked
};

}  // namespace rml::rt
