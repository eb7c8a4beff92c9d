// A compiled program as a network of tasks (rml_network in rmlrt.h), run by a pool of workers.
//
// The host pushes cycles at one end and pops rows at the other, from one thread or two. In between every task runs as
// soon as its operands are there and there is room for its results. What comes out does not depend on the number of
// workers, on capacities, or on who was faster:
//
// Values. A task is a function of its operand streams and its own state, and takes them by position; streams are first
// in, first out. So every stream is the same in every run (Kahn).
//
// No deadlock. With bounded rings a task may wait for room in one ring, whose reader waits for an element of another
// ring, which comes only when the first task goes on:
//
//       x ──▶ ring ──▶ y = x * s            s = sum of x over the segment: there only at its end
//       x ──▶ s ─────▶ y
//
// The length of a segment is unknown beforehand, so no fixed capacities would do. Rings have limits, and a limit is
// raised only if it must be: when nothing runs and nothing can (`quiet`), a ring that is full, but whose slowest
// reader waits for something else, may hold twice as many. There is such a ring whenever somebody waits for room:
// go from the ring to its slowest reader, and on to the ring that this one waits for room in; that ends at a
// reader that waits for an element, or goes round in a circle of rings that are all full, of which the smallest is
// raised. If no task waits for room, all is done that the cycles so far allow. So limits grow to what the
// program needs, as the rings of a program that is not a network do, and no further than to its double.
//
// Faults. Every instant has a stamp: the cycle that made it possible, the greatest stamp of its operands. A program
// that is not a network runs, in each cycle, its units in order, as far as they reach; so (stamp, task) says
// when that would be. After a fault at (f, t) instants behind it are not begun any more, those before it still run, and
// may fail in turn: what remains at the end is the least one, which the other program would have reported. A row is
// handed out when no task that can fail has an instant left of its stamp or an earlier one; if that cannot be seen
// while cycles come in, none is taken until all is done that the others allow.
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

// Elements that may wait in a ring unless the host says otherwise.
std::uint64_t usual_capacity(std::uint64_t element_bytes);

struct NetworkOptions {
  unsigned workers = 0;        // 0: as many as processors
  std::uint64_t capacity = 0;  // elements that may wait in a ring; 0: the usual
  Trace* trace = nullptr;      // made for as many workers
};

// As many as processors, if 0 are asked for.
unsigned network_workers(unsigned asked);

class Network {
 public:
  // The state is initialised, or restored. Throws Failure if there is no memory for it.
  Network(const rml_program& program, void* state, const NetworkOptions& options);
  // Whatever runs ends its instant; the rings are given back.
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // ---- the host's one end
  enum class Taken : std::uint8_t { yes, full, failed };  // failed: no further cycle is of use
  Taken try_push(const void* const* in, const std::uint8_t* present);
  // Waits while it is full. False: failed, or cancelled. Tasks hear of several cycles at a time, for which the host
  // has to say when none comes for a while.
  bool push(const void* const* in, const std::uint8_t* present);
  void announce();
  // There is no further cycle.
  void close();

  // ---- the other end
  enum class Row : std::uint8_t { there, none, ended };  // none: not yet; ended: there will be none
  Row try_pop(void* const* out, std::uint8_t* present);
  // Waits for a row. False: ended, or cancelled.
  bool pop(void* const* out, std::uint8_t* present);

  // For a host that can do neither: waits until one of the two may go. `seen` is what `changes` was before it tried.
  std::uint32_t changes() const { return changes_.load() & ~1u; }
  void wait(std::uint32_t seen);
  // All is done that the cycles so far allow, and no cycle is pushed meanwhile: once no row is left either, the state
  // may be looked at. A waiting host hears when it becomes so; rows must be popped, or there may be no room to get
  // there.
  bool settled() const { return settled_.load() == pushed().load(); }
  // From any thread: a waiting host looks again.
  void signal();
  // From any thread: push and pop return false at once, tasks end their instant.
  void cancel();
  // Cancels, and waits for the workers to end.
  void stop();

  // Held by the rings. Nothing runs.
  std::uint64_t bytes() const;
  bool failed() const { return limit_.load() != no_limit; }
  // Once the rows have ended, or it has settled, and no thread pushes: brings what is counted into the state's header,
  // and after a fault that, with the cycle in which it came up as the number of those that were read.
  void report();
  // Every task that failed, the first one first.
  std::vector<std::uint32_t> failures() const;

 private:
  struct NetworkTask;
  struct Host;
  static constexpr std::int64_t no_limit = INT64_MAX;
  static constexpr std::int32_t waits_room = INT32_MIN;  // beside what `ready` says
  static constexpr std::int32_t waits_frontier = INT32_MIN + 1;
  static constexpr std::int32_t waits_gate = INT32_MIN + 2;
  static constexpr std::int32_t waits_end_room = INT32_MIN + 3;  // for all that the end of a segment writes
  static bool is_room(std::int32_t code) { return code == waits_room || code == waits_end_room; }

  rml_header& header() const { return *static_cast<rml_header*>(state_); }
  std::atomic_ref<std::int64_t> pushed() const { return std::atomic_ref<std::int64_t>(header().pushed); }
  bool may_push();
  Taken push_cycle(const void* const* in, const std::uint8_t* present);
  void quiet();
  struct Limits {
    std::vector<std::uint32_t> full, raised;  // rings
    std::vector<NetworkTask*> roomy;          // who waits for room that is there; null: the host
  };
  bool find_limits(Limits& found) const;
  bool stuck_behind(std::uint32_t queue) const;
  bool host_waits() const;
  void fail(std::uint32_t task, std::int64_t stamp);
  bool may_run(std::int64_t stamp, std::uint32_t task) const;
  bool may_go_out(std::int64_t key, std::int64_t row);
  std::int64_t frontier() const;
  // Who is told of what has come or gone; `last`: all, by a task that waits then.
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
  std::vector<std::vector<std::uint32_t>> followers_;  // by task: those that wait for its first instant
  struct Waiting {
    std::atomic<std::int32_t> on{0};
    std::atomic<std::uint32_t> room{0};
  };
  Waiting in_, out_;
  std::atomic<std::int64_t> limit_{no_limit};
  std::atomic<std::int64_t> settled_{0};  // all is done that so many cycles allow
  std::atomic<bool> closed_{false}, cancelled_{false};
  std::atomic<bool> gate_{false};  // no cycle goes in: a row waits until all is done that those so far allow
  // Twice their number; 1 more if a thread sleeps until the next one: no other thread is to be woken.
  std::atomic<std::uint32_t> changes_{0};
  std::int64_t segments_before_ = 0, longest_before_ = 0;  // of the state that it began with
  std::int64_t frontier_ = 0;                              // as it was last; of the popping thread
  std::int64_t announced_ = 0, first_unannounced_ = 0;     // cycles, time; of the pushing thread
  mutable std::mutex mutex_;                               // of `quiet`, what it found before, and failures_
  Limits found_before_;                                    // whose memory the next look takes
  std::vector<std::uint32_t> failures_;
  std::unique_ptr<Scheduler> scheduler_;  // the last member: its threads end first
};

}  // namespace rml::rt
