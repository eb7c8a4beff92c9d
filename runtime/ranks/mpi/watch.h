// Whether the processes of other ranks live, as far as they run on the same machine.
//
// MPI does not say when a rank is killed: a rank that waits for it keeps waiting, until the launcher ends all the rest,
// some within milliseconds and without a word on who it was. So a rank looks whether the processes of the others are
// there, by the system's descriptors of processes, where it waits for one (gone). And beside each rank runs a small
// process, a child in a session of its own, which launchers do not kill with the rank. It notices that its rank has
// died and tells the children of the other ranks; the first of them tells the user. Each ends its own rank if that has
// not noticed by itself after some seconds, in a long cycle.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rml::rt {

// A process, so that others can tell whether they see it.
struct Identity {
  std::int64_t pid = 0;
  std::uint64_t pids = 0;  // the name space in which it has this number
  char boot[64] = {};      // which start of which machine
  char host[64] = {};
  static Identity own();
  bool sees(const Identity& other) const;
};

class Watch {
 public:
  // Starts the process: before MPI, and before there are threads.
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // identities of all ranks; `rank` is this one. They live until all have called this.
  void begin(const std::vector<Identity>& identities, std::uint32_t rank);
  // "its process 1234 on HOST was killed or has crashed"; empty: nothing is known of it.
  std::string gone(std::uint32_t rank) const;
  // This rank ends, and it is well that it does.
  void stop();

 private:
  std::vector<Identity> identities_;
  std::vector<int> processes_;  // descriptors; -1: not seen from here
  int to_child_ = -1;
  pid_t child_ = -1;
};

}  // namespace rml::rt
