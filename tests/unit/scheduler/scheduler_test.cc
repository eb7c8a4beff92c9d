// The pool of workers. Also built with ThreadSanitizer.
#include "runtime/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/unit/scheduler/resident.h"

namespace {

using rml::rt::Scheduler;
using rml::rt::Task;

class Call : public Task {
 public:
  using Task::Next;
  explicit Call(std::function<Next(unsigned)> call) : call_(std::move(call)) {}
  explicit Call(std::function<void()> call)
      : call_([call = std::move(call)](unsigned) {
          call();
          return Next::wait;
        }) {}

 private:
  Next run(unsigned worker) override { return call_(worker); }
  std::function<Next(unsigned)> call_;
};

// Counts how often the pool became quiet.
class Quiet {
 public:
  void operator()() {
    const std::lock_guard lock(mutex_);
    ++times_;
    changed_.notify_all();
  }
  void wait_for(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return times_ >= times; });
  }
  int times() {
    const std::lock_guard lock(mutex_);
    return times_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int times_ = 0;
};

TEST(scheduler, a_task_runs_when_it_is_woken) {
  Quiet quiet;
  Scheduler scheduler(2, std::ref(quiet));
  EXPECT_EQ(scheduler.workers(), 2u);
  EXPECT_TRUE(scheduler.quiet());
  std::atomic<int> runs{0};
  Call task([&] { ++runs; });
  scheduler.wake(task);
  quiet.wait_for(1);
  EXPECT_EQ(runs, 1);
  scheduler.wake(task);
  quiet.wait_for(2);
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(scheduler.quiet());
}

TEST(scheduler, no_workers_are_one) { EXPECT_EQ(Scheduler(0).workers(), 1u); }

TEST(scheduler, woken_while_it_runs_it_runs_again) {
  Quiet quiet;
  Scheduler scheduler(1, std::ref(quiet));
  std::binary_semaphore runs{0}, woken{0};
  int count = 0;
  Call task([&] {
    if (++count > 1) return;
    runs.release();
    woken.acquire();
  });
  scheduler.wake(task);
  runs.acquire();
  for (int k = 0; k < 5; ++k) scheduler.wake(task);  // five calls are equivalent to one wake-up
  woken.release();
  quiet.wait_for(1);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(quiet.times(), 1);
}

TEST(scheduler, a_task_that_wakes_itself_runs_again) {
  Quiet quiet;
  Scheduler scheduler(2, std::ref(quiet));
  int count = 0;
  Call* self = nullptr;
  Call task([&] {
    if (++count < 1000) scheduler.wake(*self);
  });
  self = &task;
  scheduler.wake(task);
  quiet.wait_for(1);
  EXPECT_EQ(count, 1000);
}

TEST(scheduler, again_lets_the_others_go_first) {
  Quiet quiet;
  Scheduler scheduler(1, std::ref(quiet));
  std::string order;
  Call b([&] { order += 'b'; });
  Call a([&](unsigned worker) {
    EXPECT_EQ(worker, 0u);
    order += 'a';
    if (order.size() == 1) scheduler.wake(b);
    return order.size() < 4 ? Call::Next::again : Call::Next::wait;
  });
  scheduler.wake(a);
  quiet.wait_for(1);
  EXPECT_EQ(order, "abaa");
}

TEST(scheduler, a_task_woken_next_goes_before_the_others) {
  Quiet quiet;
  Scheduler scheduler(1, std::ref(quiet));
  std::string order;
  Call b([&] { order += 'b'; }), c([&] { order += 'c'; }), d([&] { order += 'd'; });
  Call a([&] {
    order += 'a';
    scheduler.wake(b);
    scheduler.wake_next(c);
    scheduler.wake_next(d);  // replaces the earlier call, because only one task can be the next
  });
  scheduler.wake(a);
  quiet.wait_for(1);
  EXPECT_EQ(order, "acbd");
}

TEST(scheduler, two_that_wake_each_other_do_not_keep_the_others_from_running) {
  Quiet quiet;
  Scheduler scheduler(1, std::ref(quiet));
  int turns = 0, turns_before = 0;
  Call* other = nullptr;
  Call c([&] { turns_before = turns; });
  Call a([&] {
    if (++turns == 1) scheduler.wake(c);
    if (turns < 1000) scheduler.wake_next(*other);
  });
  Call b([&] { scheduler.wake_next(a); });
  other = &b;
  scheduler.wake(a);
  quiet.wait_for(1);
  EXPECT_EQ(turns, 1000);
  EXPECT_GT(turns_before, 0);
  EXPECT_LT(turns_before, 50);
}

TEST(scheduler, those_who_run_again_and_again_do_not_keep_the_others_from_running) {
  Quiet quiet;
  Scheduler scheduler(1, std::ref(quiet));
  std::binary_semaphore runs{0}, woken{0};
  int turns = 0, turns_before = 0;
  const auto busy = [&](unsigned) {
    if (++turns == 100) {
      runs.release();
      woken.acquire();
    }
    return turns < 2000 ? Call::Next::again : Call::Next::wait;
  };
  Call a(busy), b(busy), c([&] { turns_before = turns; });
  scheduler.wake(a);
  scheduler.wake(b);
  runs.acquire();
  scheduler.wake(c);  // adds c to a queue of this thread's own
  woken.release();
  quiet.wait_for(1);
  EXPECT_LT(turns_before, 150);
}

TEST(scheduler, a_thread_that_is_no_worker_may_wake_a_next_one) {
  Quiet quiet;
  Scheduler scheduler(1, std::ref(quiet));
  std::atomic<int> runs{0};
  Call task([&] { ++runs; });
  scheduler.wake_next(task);
  quiet.wait_for(1);
  EXPECT_EQ(runs, 1);
}

// Many wake-ups: a count that precedes a wake-up is seen by a later run, whatever the task is
// doing at that moment.
TEST(scheduler, no_wake_up_is_lost) {
  constexpr int threads = 4, wakes = rml::test::sanitized ? 20'000 : 200'000;
  Quiet quiet;
  Scheduler scheduler(2, std::ref(quiet));
  std::atomic<std::int64_t> wanted{0};
  std::atomic<int> inside{0}, clashes{0};
  std::int64_t seen = 0;
  Call task([&] {
    if (inside.fetch_add(1) != 0) ++clashes;
    seen = wanted.load(std::memory_order_relaxed);
    --inside;
  });
  scheduler.enter();
  std::vector<std::thread> wakers;
  for (int t = 0; t < threads; ++t)
    wakers.emplace_back([&] {
      for (int k = 0; k < wakes; ++k) {
        wanted.fetch_add(1, std::memory_order_relaxed);
        scheduler.wake(task);
      }
    });
  for (std::thread& waker : wakers) waker.join();
  EXPECT_EQ(quiet.times(), 0);
  scheduler.leave();
  quiet.wait_for(1);
  EXPECT_EQ(seen, threads * wakes);
  EXPECT_EQ(clashes, 0);
}

// Two tasks exchange a ball, as in a ring of capacity 1: each checks for it, and waits if it is
// not there.
TEST(scheduler, a_ball_goes_to_and_fro) {
  constexpr int times = rml::test::sanitized ? 20'000 : 300'000;
  for (const unsigned workers : {1u, 2u, 4u}) {
    Quiet quiet;
    Scheduler scheduler(workers, std::ref(quiet));
    std::atomic<int> ball{0};
    Call *left = nullptr, *right = nullptr;
    const auto player = [&](int parity, Call** other) {
      return [&, parity, other] {
        const int at = ball.load(std::memory_order_relaxed);
        if (at % 2 != parity || at >= times) return;
        ball.store(at + 1, std::memory_order_relaxed);
        scheduler.wake(**other);
      };
    };
    Call a(player(0, &right)), b(player(1, &left));
    left = &a;
    right = &b;
    scheduler.enter();
    scheduler.wake(a);
    scheduler.wake(b);
    scheduler.leave();
    quiet.wait_for(1);
    EXPECT_EQ(ball, times);
  }
}

// Trees of tasks that wake others, and no other task or thread: the pool is quiet once at the end
// of each, and not before.
TEST(scheduler, quiet_once_when_all_have_run) {
  Quiet quiet;
  Scheduler scheduler(3, std::ref(quiet));
  constexpr std::size_t n = 1023;
  std::atomic<int> runs{0};
  std::deque<Call> tasks;
  for (std::size_t k = 0; k < n; ++k)
    tasks.emplace_back([&, k] {
      ++runs;
      if (2 * k + 2 < n) {
        scheduler.wake(tasks[2 * k + 1]);
        scheduler.wake(tasks[2 * k + 2]);
      }
    });
  for (int round = 1; round <= 300; ++round) {
    scheduler.wake(tasks[0]);
    quiet.wait_for(round);
    ASSERT_EQ(runs, round * static_cast<int>(n));
    ASSERT_EQ(quiet.times(), round);
  }
}

TEST(scheduler, it_is_not_quiet_while_somebody_is_inside) {
  Quiet quiet;
  Scheduler scheduler(2, std::ref(quiet));
  std::atomic<int> runs{0};
  Call task([&] { ++runs; });
  scheduler.enter();
  scheduler.wake(task);
  while (runs == 0) std::this_thread::yield();
  scheduler.wake(task);
  while (runs == 1) std::this_thread::yield();
  EXPECT_FALSE(scheduler.quiet());
  EXPECT_EQ(quiet.times(), 0);
  scheduler.leave();
  quiet.wait_for(1);
  EXPECT_EQ(quiet.times(), 1);
}

TEST(scheduler, who_is_called_when_it_is_quiet_may_wake) {
  constexpr int rounds = 1000;
  std::binary_semaphore over{0};
  std::atomic<int> runs{0};
  Call task([&] { ++runs; });
  Scheduler* self = nullptr;
  Scheduler scheduler(2, [&] { runs < rounds ? self->wake(task) : over.release(); });
  self = &scheduler;
  scheduler.wake(task);
  over.acquire();
  EXPECT_EQ(runs, rounds);
}

TEST(scheduler, destroyed_with_tasks_queued) {
  for (int round = 0; round < 50; ++round) {
    std::binary_semaphore runs{0};
    std::latch ends(1);
    std::atomic<int> ended{0};
    std::deque<Call> tasks;
    tasks.emplace_back([&] {
      runs.release();
      ends.wait();
      ++ended;
    });
    for (int k = 0; k < 1000; ++k) tasks.emplace_back([] {});
    auto scheduler = std::make_unique<Scheduler>(1);
    for (Call& task : tasks) scheduler->wake(task);
    runs.acquire();
    std::thread destroyer([&] { scheduler.reset(); });
    ends.count_down();
    destroyer.join();
    EXPECT_EQ(ended, 1);  // the run that had begun has ended
  }
}

TEST(scheduler, destroyed_while_tasks_go_on_and_on) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> runs{0};
    const auto on = [&](unsigned) {
      ++runs;
      return Call::Next::again;
    };
    std::deque<Call> tasks;
    Scheduler scheduler(2);
    for (int k = 0; k < 10; ++k) scheduler.wake(tasks.emplace_back(on));
    while (runs < 100) std::this_thread::yield();
  }
}

TEST(scheduler, schedulers_within_schedulers) {
  Quiet quiet;
  Scheduler outer(2, std::ref(quiet));
  std::atomic<int> runs{0};
  std::deque<Call> tasks;
  for (int k = 0; k < 20; ++k)
    tasks.emplace_back([&] {
      Quiet inner_quiet;
      std::deque<Call> inner_tasks;
      Scheduler inner(2, std::ref(inner_quiet));
      inner.enter();
      for (int i = 0; i < 20; ++i) inner.wake(inner_tasks.emplace_back([&] { ++runs; }));
      inner.leave();
      inner_quiet.wait_for(1);
    });
  outer.enter();
  for (Call& task : tasks) outer.wake(task);
  outer.leave();
  quiet.wait_for(1);
  EXPECT_EQ(runs, 400);
}

// The pool has a queue for every thread that has woken a task. Queues of ended threads are
// reused.
TEST(scheduler, threads_that_come_and_go_leave_nothing_behind) {
  Quiet quiet;
  Scheduler scheduler(1, std::ref(quiet));
  Call task([] {});
  const auto some = [&](int n) {
    for (int k = 0; k < n; ++k) {
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) threads.emplace_back([&] { scheduler.wake(task); });
      for (std::thread& thread : threads) thread.join();
    }
  };
  some(50);
  const double before = rml::test::resident_mib();
  some(300);
  if (!rml::test::sanitized) {
    EXPECT_LT(rml::test::resident_mib() - before, 1.0);
  }
  while (!scheduler.quiet()) std::this_thread::yield();
}

}  // namespace
