// Runs tasks on a fixed number of threads.
//
// A task is a state machine without a thread of its own. It runs when it is woken, does
// everything that is possible at that moment, and waits again:
//
//              wake                 a worker takes it             nothing left to do
//     idle ───────────▶ queued ───────────────────▶ running ─────────────────────────▶ idle
//                         ▲                           │  wake
//                         └──── its run has ended ────▼
//                                                  running, again
//
// A task runs on one worker at a time. No wake-up is lost: a thread that has work for a task
// first writes it, and then wakes the task. If the task is idle, it is queued. If it is queued,
// its run is still to come and will see the work. If it is running, it may already have checked,
// so it is queued again when its run ends. There are full fences in `wake` and at the start of a
// run: the former orders the write before the read of the task's state, the latter orders the
// write of the state before the read of the work. This only holds for atomics; plain memory must
// be handed over with release and acquire order, as rings do, because wake alone does not order
// it.
//
// A worker without work takes tasks that other workers have woken. If it finds none, it looks for
// work for a moment and then sleeps. If a task wakes another one just before it waits, its own
// worker can run the other one directly, which is cheaper and finds the operands in its cache.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace rml::rt {

class Task {
 public:
  Task() = default;
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

 protected:
  // The result of a task; again: it has more to do after other tasks have run.
  enum class Next : std::uint8_t { wait, again };
  // Runs the task. `worker` is the number of the worker, less than workers().
  virtual Next run(unsigned worker) = 0;

 private:
  friend class Scheduler;
  enum Phase : std::uint8_t { idle, queued, running, running_again };
  std::atomic<std::uint8_t> phase_{idle};
};

class Scheduler {
 public:
  // when_quiet: called each time that no task is queued or running and no thread is inside, by
  // the thread that was last. It may wake tasks. Calls may overlap if it does, or if threads that
  // are neither workers nor inside wake tasks.
  explicit Scheduler(unsigned workers, std::function<void()> when_quiet = {});
  // Waits for running tasks; queued tasks are not run. No thread may be inside.
  ~Scheduler();
  // Ends all threads, like the destructor; the object may still be used afterwards.
  void stop();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  unsigned workers() const;
  // Any thread may call it. A task must exist until its last run has ended, or until the
  // scheduler ends.
  void wake(Task&);
  // As wake, for a task whose run is about to end: its worker may run the other task next.
  void wake_next(Task&);
  // For threads that are not workers: between the two calls the scheduler is not quiet.
  void enter();
  void leave();
  // True if no task is queued or running and no thread is inside. This may have changed when the
  // call returns.
  bool quiet() const;
  // A number that changes whenever a task is woken or a thread enters. If it is the same before
  // and after an inspection, and the scheduler was quiet before it, then nothing ran during the
  // inspection.
  std::uint32_t entered() const;

 private:
  struct Pool;
  void work(unsigned worker);
  bool queues(Task&);
  void enqueue(Task&);
  std::unique_ptr<Pool> pool_;
};

}  // namespace rml::rt
