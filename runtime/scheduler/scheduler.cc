// Ready tasks are in a queue of the library concurrentqueue. It consists of one queue per waking
// thread; a worker takes a few tasks from one of them, then from the next. It only allocates
// blocks that it keeps.
#include "runtime/scheduler/scheduler.h"

#include <blockingconcurrentqueue.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace rml::rt {

namespace {
constexpr int most_in_a_row = 16;  // limit on the tasks that a thread runs in a row before those of other threads

struct Turns : moodycamel::ConcurrentQueueDefaultTraits {
  static constexpr std::uint32_t EXPLICIT_CONSUMER_CONSUMPTION_QUOTA_BEFORE_ROTATE = most_in_a_row;
};
}  // namespace

using ReadyQueue = moodycamel::BlockingConcurrentQueue<Task*, Turns>;

struct Scheduler::Pool {
  std::function<void()> when_quiet;
  ReadyQueue ready;
  std::vector<std::unique_ptr<moodycamel::ProducerToken>> own;
  std::vector<std::thread> threads;
  // Lower half: number of tasks queued or running, and of threads inside. Upper half: number of
  // increments.
  alignas(64) std::atomic<std::uint64_t> active{0};
};

namespace {
struct Here {
  const void* scheduler = nullptr;
  unsigned worker = 0;
  Task* next = nullptr;  // next task of this worker, queued but not in a queue
};
thread_local Here here;

constexpr std::uint64_t once = std::uint64_t{1} << 32;
constexpr std::uint32_t now_active(std::uint64_t active) { return static_cast<std::uint32_t>(active); }
}  // namespace

Scheduler::Scheduler(unsigned workers, std::function<void()> when_quiet) : pool_(std::make_unique<Pool>()) {
  pool_->when_quiet = std::move(when_quiet);
  workers = std::max(workers, 1u);
  for (unsigned k = 0; k < workers; ++k)
    pool_->own.push_back(std::make_unique<moodycamel::ProducerToken>(pool_->ready));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (unsigned k = 0; k < workers; ++k) pool_->threads.emplace_back([this, k] { work(k); });
  } catch (...) {  // a thread cannot be started: ends those that run
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    stop();
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::stop() {
  for (std::size_t k = 0; k < pool_->threads.size(); ++k) pool_->ready.enqueue(nullptr);
  for (std::thread& thread : pool_->threads) thread.join();
  pool_->threads.clear();
}

unsigned Scheduler::workers() const { return static_cast<unsigned>(pool_->own.size()); }

void Scheduler::enqueue(Task& task) {
  const bool queued =
      here.scheduler == this ? pool_->ready.enqueue(*pool_->own[here.worker], &task) : pool_->ready.enqueue(&task);
  // The queue refuses a task if there is no memory. A thread that waits for this task would then
  // wait for ever.
  if (!queued) throw std::bad_alloc();
}

// Marks the task as woken. Returns true if the caller must put it into a queue.
bool Scheduler::queues(Task& task) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint8_t phase = task.phase_.load(std::memory_order_relaxed);
  for (;;) {
    if (phase == Task::queued || phase == Task::running_again) return false;
    if (phase == Task::running) {
      if (task.phase_.compare_exchange_weak(phase, Task::running_again)) return false;
      continue;
    }
    enter();  // before another thread can take it, so that it is not quiet in between
    if (task.phase_.compare_exchange_strong(phase, Task::queued)) return true;
    leave();
  }
}

void Scheduler::wake(Task& task) {
  if (queues(task)) enqueue(task);
}

void Scheduler::wake_next(Task& task) {
  if (!queues(task)) return;
  if (here.scheduler == this && here.next == nullptr)
    here.next = &task;
  else
    enqueue(task);
}

void Scheduler::enter() { pool_->active.fetch_add(once + 1); }

void Scheduler::leave() {
  if (now_active(pool_->active.fetch_sub(1)) == 1 && pool_->when_quiet) pool_->when_quiet();
}

bool Scheduler::quiet() const { return now_active(pool_->active.load()) == 0; }

std::uint32_t Scheduler::entered() const { return static_cast<std::uint32_t>(pool_->active.load() / once); }

void Scheduler::work(unsigned worker) {
  here = {this, worker, nullptr};
  moodycamel::ConsumerToken others(pool_->ready);
  for (int in_a_row = 0;;) {
    Task* task = std::exchange(here.next, nullptr);
    if (task != nullptr && ++in_a_row > most_in_a_row) enqueue(*std::exchange(task, nullptr));
    if (task == nullptr) {
      in_a_row = 0;
      pool_->ready.wait_dequeue(others, task);
      if (task == nullptr) return;
    }
    task->phase_.exchange(Task::running);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::uint8_t phase = Task::running;
    if (task->run(worker) == Task::Next::wait && task->phase_.compare_exchange_strong(phase, Task::idle)) {
      leave();
    } else {
      task->phase_.store(Task::queued);
      if (here.next == nullptr && pool_->ready.size_approx() == 0)
        here.next = task;
      else
        enqueue(*task);
    }
  }
}

}  // namespace rml::rt
