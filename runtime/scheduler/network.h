// Runs a compiled program as a network of tasks (rml_network in rmlrt.h), with a pool of workers.
//
// The host pushes cycles at one end and pops rows at the other, from one thread or two. In
// between, every task runs as soon as its operands are available and its results have room. The
// rows do not depend on the number of workers, on capacities, or on timing:
//
// Values. A task is a function of its operand streams and its own state, and takes operands by
// position. Streams are first in, first out. So every stream is the same in every run (Kahn).
//
// No deadlock. With bounded rings, a task may wait for room in a ring whose reader waits for an
// element of another ring, and that element may only come after the first task has continued:
//
//       x ──▶ ring ──▶ y = x * s            s = sum of x over the segment, known at its end
//       x ──▶ s ─────▶ y
//
// The length of a segment is not known beforehand, so no fixed capacity suffices. Rings have
// limits, and a limit is raised only if necessary: when nothing runs and nothing can run
// (`quiet`), the limit of a full ring is doubled if its slowest reader waits for anything but
// room. Whenever a task waits for room, there is such a ring: from the full ring go to its
// slowest reader, and if that one waits for room, to the ring in which it waits. This ends at a
// reader that waits for an element, or in a circle of full rings, of which the smallest is
// raised. If no task waits for room, everything that the cycles so far allow is done. Limits thus
// grow to the size that the program needs, like the rings of a program without tasks, and at most
// to twice that size.
//
// Faults. Every instant has a stamp: the cycle that made it possible, which is the greatest stamp
// of its operands. A program without tasks runs its units in order in each cycle, as far as they
// reach, so (stamp, task) is the position of an instant in that order. After a fault at (f, t),
// later instants are not started any more. Earlier ones still run and may fail as well. The least
// fault remains at the end, and it is the one that the other program would have reported. A row
// is handed out when no task that can fail has an instant left with the row's stamp or an earlier
// one. If that cannot be decided while cycles come in, no cycle is accepted until everything is
// done that the earlier ones allow.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/rmlrt.h"
#include "runtime/scheduler/network_ring.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/scheduler/trace.h"

namespace rml::rt {

// The default capacity of a ring, in elements.
std::uint64_t usual_capacity(std::uint64_t element_bytes);

struct NetworkOptions {
  unsigned workers = 0;        // number of threads; 0: the number of processors
  std::uint64_t capacity = 0;  // capacity of a ring in elements; 0: usual_capacity
  Trace* trace = nullptr;      // records events; null: no record. It must be made for this number of workers
};

// The requested number of workers; if it is 0, the number of processors.
unsigned network_workers(unsigned asked);

class Network {
 public:
  // The state must be initialised or restored. Throws Failure if there is no memory for the
  // rings.
  Network(const rml_program& program, void* state, const NetworkOptions& options);
  // Waits for running instants to end, and releases the rings.
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // ---- the pushing end of the host
  // Result of a push; failed: a task has failed, and further cycles are useless.
  enum class Taken : std::uint8_t { yes, full, failed };
  Taken try_push(const void* const* in, const std::uint8_t* present);
  // Waits while there is no room. Returns false after a failure or cancel. Several cycles may be
  // announced to the tasks together, so the host calls announce() if the next cycle will not come
  // soon.
  bool push(const void* const* in, const std::uint8_t* present);
  void announce();
  // Ends the input: there are no further cycles.
  void close();

  // ---- the popping end of the host
  // none: not yet; ended: there will be no more
  enum class Row : std::uint8_t { there, none, ended };
  Row try_pop(void* const* out, std::uint8_t* present);
  // Waits for a row. Returns false at the end or after cancel.
  bool pop(void* const* out, std::uint8_t* present);

  // Waits until push or pop may succeed, for a host that can do neither. seen: the result of
  // `changes` before the attempts.
  std::uint32_t changes() const { return changes_.load() & ~1u; }
  void wait(std::uint32_t seen);
  // True if everything is done that the cycles so far allow, and no cycle is being pushed. Once
  // no row is left either, the state may be read. A waiting host is woken when this becomes true.
  // Rows must be popped meanwhile, since the network may need their room.
  bool settled() const { return settled_.load() == pushed().load(); }
  // Wakes a waiting host. Any thread may call it.
  void signal();
  // Lets push and pop return false immediately; tasks end their instant. Any thread may call it.
  void cancel();
  // Cancels, and waits for the workers to end.
  void stop();

  // Memory of the rings in bytes. Only while nothing runs.
  std::uint64_t bytes() const;
  bool failed() const { return limit_.load() != no_limit; }
  // Writes the statistics to the header of the state, and after a fault the fault, with its cycle
  // as the number of cycles read. Call it when rows have ended or the network has settled, while
  // no thread pushes.
  void report();
  // All tasks that failed, in the order of their instants.
  std::vector<std::uint32_t> failures() const;

 private:
  struct NetworkTask;
  struct Host;
  static constexpr std::int64_t no_limit = INT64_MAX;
  static constexpr std::int32_t waits_room = INT32_MIN;  // reasons to wait, in addition to the results of `ready`
  static constexpr std::int32_t waits_frontier = INT32_MIN + 1;
  static constexpr std::int32_t waits_gate = INT32_MIN + 2;
  // waits for room for all elements that the end of a segment writes
  static constexpr std::int32_t waits_end_room = INT32_MIN + 3;
  static bool is_room(std::int32_t code) { return code == waits_room || code == waits_end_room; }

  rml_header& header() const { return *static_cast<rml_header*>(state_); }
  std::atomic_ref<std::int64_t> pushed() const { return std::atomic_ref<std::int64_t>(header().pushed); }
  bool may_push();
  Taken push_cycle(const void* const* in, const std::uint8_t* present);
  void quiet();
  struct Limits {
    // full rings, and those of them whose limit is to be raised
    std::vector<std::uint32_t> full, raised;
    // tasks that wait for room although there is room; null stands for the host
    std::vector<NetworkTask*> roomy;
  };
  bool find_limits(Limits& found) const;
  bool stuck_behind(std::uint32_t queue) const;
  bool host_waits() const;
  void fail(std::uint32_t task, std::int64_t stamp);
  bool may_run(std::int64_t stamp, std::uint32_t task) const;
  bool may_go_out(std::int64_t key, std::int64_t row);
  std::int64_t frontier() const;
  // Whom to notify of new or removed elements: tasks only, or also the host; `last`: all, and the
  // notifying task then waits.
  enum class Note : std::uint8_t { tasks, all, last };
  void wake(NetworkTask& task, Note how);
  void wake_readers(std::uint32_t queue, Note how);
  void wake_writer(std::uint32_t queue, Note how);

  const rml_program& program_;
  const rml_network& network_;
  void* const state_;
  Trace* const trace_;
  std::deque<NetworkRing> rings_;
  std::vector<std::unique_ptr<NetworkTask>> tasks_;
  std::vector<std::uint32_t> paced_, fallible_;
  // indexed by task: the tasks that wait for its first instant
  std::vector<std::vector<std::uint32_t>> followers_;
  struct Waiting {
    std::atomic<std::int32_t> on{0};
    std::atomic<std::uint32_t> room{0};
  };
  Waiting in_, out_;
  std::atomic<std::int64_t> limit_{no_limit};
  std::atomic<std::int64_t> settled_{0};  // number of cycles for which everything is done
  std::atomic<bool> closed_{false}, cancelled_{false};
  // no cycle is accepted: a row waits until everything is done that the earlier ones allow
  std::atomic<bool> gate_{false};
  // Twice the number of changes, plus 1 if a thread sleeps until the next change.
  std::atomic<std::uint32_t> changes_{0};
  std::int64_t segments_before_ = 0, longest_before_ = 0;  // statistics of the initial state
  // Latest frontier that was computed; used by the popping thread.
  std::int64_t frontier_ = 0;
  // number of cycles, and a time; used by the pushing thread
  std::int64_t announced_ = 0, first_unannounced_ = 0;
  mutable std::mutex mutex_;  // protects `quiet` and its results, and failures_
  Limits found_before_;       // the next call of `quiet` reuses its memory
  std::vector<std::uint32_t> failures_;
  // last member: its threads end before the others are destroyed
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace rml::rt
