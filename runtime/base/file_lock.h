// Files that a run writes are its own as long as it lives: a second run that would write one of them is refused, with
// the number of the process that has it.
//
// Problem: a second run that goes on with the same state cuts the output of the first back, and both write over each
// other's rows.
// Method: flock, which the system gives back however a process ends, so a lock is never stale. A file that is written
// in place is locked itself, by the descriptor that writes it. A state is replaced as a whole, and its lock must
// outlive the file: an empty file beside it, `.NAME.rmllock`, has the lock and is removed when the run ends. Where the
// file system has no locks, or no such file can be made, runs go on without.
#pragma once

#include <string>

namespace rml::rt {

// Locks the file of an open descriptor until that is closed, if it is a regular file and not one of the process's
// standard streams, which its parent may share. `name` is quoted as it is. Throws Failure if another process has it.
void lock_file(int descriptor, const std::string& name);

// Throws as lock_file would, and locks nothing.
void require_unlocked(const std::string& path);

// The lock of a file that is replaced as a whole.
class NameLock {
 public:
  explicit NameLock(const std::string& path);
  NameLock(NameLock&& other) noexcept;
  NameLock(const NameLock&) = delete;
  NameLock& operator=(const NameLock&) = delete;
  ~NameLock();

 private:
  std::string lock_;  // the path of the empty file
  int fd_ = -1;       // -1: without
};

}  // namespace rml::rt
