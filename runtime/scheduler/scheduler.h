// Tasks on a fixed number of threads: who runs next, and who sleeps.
//
// A task is a state machine without a thread of its own. It runs when somebody wakes it, does what it can with
// what is there, and waits again:
//
//              wake                 a worker takes it             nothing left to do
//     idle ───────────▶ queued ───────────────────▶ running ─────────────────────────▶ idle
//                         ▲                           │  wake
//                         └──── its run has ended ────▼
//                                                  running, again
//
// A task runs on one worker at a time. No wake-up is lost: a thread that gives a task something to do writes it first
// and wakes it then. If the task is idle, it is queued; if it is queued, its run is still to come and sees it; if it
// runs, it may have looked already, so that it is queued again when its run ends. The full fences in `wake` and at the
// start of a run order the writing before the look at the state on one side, and the state before the look at
// what is written on the other. That takes atomics: what is plain memory must be handed over by one of them with
// release and acquire order, as rings do; wake alone does not.
//
// A worker without work takes tasks that others have woken; a worker that finds nothing looks out for a moment, then
// sleeps. What a task wakes when it has nothing left to do itself need not go through the hands of others: its worker
// goes on with that, which is cheaper, and finds the operands in its cache.
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
  enum class Next : std::uint8_t { wait, again };  // again: there is more to do; others go first
  // worker: below the number of workers.
  virtual Next run(unsigned worker) = 0;

 private:
  friend class Scheduler;
  enum Phase : std::uint8_t { idle, queued, running, running_again };
  std::atomic<std::uint8_t> phase_{idle};
};

class Scheduler {
 public:
  // when_quiet: called each time that no task is queued or running any more, and no thread is inside, by the thread
  // that was last. It may wake tasks. Calls may overlap if it does, or if threads wake tasks that are neither workers
  // nor inside.
  explicit Scheduler(unsigned workers, std::function<void()> when_quiet = {});
  // Runs that have begun end; what is queued is left. No thread may be inside.
  ~Scheduler();
  // The same, while the scheduler may still be named.
  void stop();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  unsigned workers() const;
  // Any thread. The task outlives its last run, the scheduler at the latest.
  void wake(Task&);
  // The same, by a task whose run is about to end: its worker may run the other one next.
  void wake_next(Task&);
  // Of threads that are no workers: between the two it is not quiet.
  void enter();
  void leave();
  // No task is queued or running, and no thread is inside. It may not be so any more when this returns.
  bool quiet() const;
  // Another number whenever a task has been woken, or a thread has entered. Who finds it quiet, looks at something, and
  // then finds the same number, has looked while nothing ran.
  std::uint32_t entered() const;

 private:
  struct Pool;
  void work(unsigned worker);
  bool queues(Task&);
  void enqueue(Task&);
  std::unique_ptr<Pool> pool_;
};

}  // namespace rml::rt
