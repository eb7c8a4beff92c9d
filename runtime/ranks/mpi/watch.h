// Observes whether the processes of other ranks on the same machine are alive.
//
// MPI does not report that a rank was killed. A rank that waits for it keeps waiting until the
// launcher ends all others, possibly within milliseconds and without naming the rank that died.
// Therefore a rank that waits checks the processes of the others by their process descriptors
// (gone). In addition, a small child process in a session of its own runs beside each rank;
// launchers do not kill it with the rank. When its rank dies, it notifies the child of the first
// rank of the machine, which prints a message and notifies the children of the other ranks. Each
// child then kills its own rank if that has not ended by itself within a few seconds, as in a
// long cycle.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rml::rt {

// Identifies a process, so that other processes can determine whether they see it.
struct Identity {
  std::int64_t pid = 0;
  std::uint64_t pids = 0;  // inode of the name space that defines this number
  char boot[64] = {};      // identifies the machine and its last start
  char host[64] = {};
  static Identity own();
  bool sees(const Identity& other) const;
};

class Watch {
 public:
  // Starts the child process. Call it before MPI is initialised and before any threads exist.
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // identities: of all ranks; `rank` is this one. All ranks must be alive until all have called
  // it.
  void begin(const std::vector<Identity>& identities, std::uint32_t rank);
  // "its process 1234 on HOST was killed or has crashed"; empty if nothing is known about it.
  std::string gone(std::uint32_t rank) const;
  // Ends the watch, because this rank ends normally.
  void stop();

 private:
  std::vector<Identity> identities_;
  std::vector<int> processes_;  // descriptors of the other ranks' processes; -1: the process is not visible from here
  int to_child_ = -1;
  pid_t child_ = -1;
};

}  // namespace rml::rt
