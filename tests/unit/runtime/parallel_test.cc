// The threads behind parallel loops. Also built with ThreadSanitizer, so the pieces write plain
// memory.
#include "runtime/base/parallel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

namespace {

struct Counts {
  explicit Counts(std::int64_t n) : done(static_cast<std::size_t>(n)) {}
  mutable std::vector<int> done;  // number of computed pieces in each round
  mutable std::atomic<std::uint32_t> most_worker{0};
  mutable std::atomic<int> clashes{0}, pieces{0};
  mutable std::atomic<bool> works[RML_MOST_THREADS] = {};
};

void count_rounds(const void* context, std::int64_t begin, std::int64_t end, std::uint32_t worker) {
  const auto& counts = *static_cast<const Counts*>(context);
  if (counts.works[worker].exchange(true)) ++counts.clashes;
  ++counts.pieces;
  for (std::uint32_t seen = counts.most_worker; seen < worker;)
    if (counts.most_worker.compare_exchange_weak(seen, worker)) break;
  for (std::int64_t i = begin; i < end; ++i) ++counts.done[static_cast<std::size_t>(i)];
  counts.works[worker] = false;
}

void expect_all_done(const Counts& counts, std::uint32_t threads) {
  for (const int n : counts.done) ASSERT_EQ(n, 1);
  EXPECT_EQ(counts.clashes, 0);
  EXPECT_LT(counts.most_worker, threads);
}

TEST(parallel, every_round_is_done_once) {
  for (const std::uint32_t threads : {1u, 2u, 3u, 8u, 64u}) {
    for (const std::int64_t n : {0, 1, 2, 3, 7, 64, 1000}) {
      const Counts counts(n);
      rml_parallel(count_rounds, &counts, n, 1, threads);
      expect_all_done(counts, threads);
    }
  }
}

TEST(parallel, more_threads_than_there_can_be) {
  const Counts counts(1000);
  rml_parallel(count_rounds, &counts, 1000, 1, 1000);
  expect_all_done(counts, RML_MOST_THREADS);
}

TEST(parallel, what_a_loop_wrote_is_seen_by_the_next) {
  struct Step {
    std::vector<double> values = std::vector<double>(997, 1.0);
    double scale = 0;
  } step;
  for (int k = 0; k < 5000; ++k) {
    step.scale = k % 2 == 0 ? 2.0 : 0.5;
    rml_parallel(
        [](const void* context, std::int64_t begin, std::int64_t end, std::uint32_t) {
          auto& s = *static_cast<Step*>(const_cast<void*>(context));
          for (std::int64_t i = begin; i < end; ++i) s.values[static_cast<std::size_t>(996 - i)] *= s.scale;
        },
        &step, 997, 1, 2 + static_cast<std::uint32_t>(k % 3));
  }
  for (const double v : step.values) ASSERT_EQ(v, 1.0);
}

// Regression: a late thread took a piece of the next loop, which has more pieces, and the loop
// never ended.
TEST(parallel, loops_of_few_and_of_many_pieces) {
  for (int k = 0; k < 100'000; ++k) {
    for (const std::int64_t n : {2, 64}) {
      const Counts counts(n);
      rml_parallel(count_rounds, &counts, n, 1, 2);
      expect_all_done(counts, 2);
    }
  }
}

TEST(parallel, threads_that_sleep_are_woken) {
  for (int k = 0; k < 20; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const Counts counts(100);
    rml_parallel(count_rounds, &counts, 100, 1, 4);
    expect_all_done(counts, 4);
  }
}

TEST(parallel, a_caller_that_sleeps_is_woken) {
  for (int k = 0; k < 20; ++k) {
    struct Slow {
      mutable std::atomic<bool> begun{false};
      Counts counts{2};
    } slow;
    rml_parallel(
        [](const void* context, std::int64_t begin, std::int64_t end, std::uint32_t worker) {
          const auto& [begun, counts] = *static_cast<const Slow*>(context);
          while (worker == 0 && !begun) std::this_thread::yield();
          begun = true;
          if (worker != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
          count_rounds(&counts, begin, end, worker);
        },
        &slow, 2, 1, 2);
    expect_all_done(slow.counts, 2);
  }
}

TEST(parallel, each_thread_has_its_grain) {
  const Counts small(99), large(200);
  rml_parallel(count_rounds, &small, 99, 50, 4);
  EXPECT_EQ(small.pieces, 1);
  rml_parallel(count_rounds, &large, 200, 50, 64);
  expect_all_done(large, 4);
}

TEST(parallel, the_number_of_threads_can_be_limited) {
  rml_limit_threads(1);
  const Counts one(100);
  rml_parallel(count_rounds, &one, 100, 1, 4);
  EXPECT_EQ(one.pieces, 1);
  rml_limit_threads(3);
  const Counts three(100);
  rml_parallel(count_rounds, &three, 100, 1, 4);
  expect_all_done(three, 3);
  rml_limit_threads(0);
}

TEST(parallel, a_loop_in_a_loop_is_done_by_its_caller) {
  struct Outer {
    mutable std::vector<int> alone = std::vector<int>(16);
  } outer;
  rml_parallel(
      [](const void* context, std::int64_t begin, std::int64_t end, std::uint32_t) {
        for (std::int64_t i = begin; i < end; ++i) {
          const Counts inner(10);
          rml_parallel(count_rounds, &inner, 10, 1, 4);
          static_cast<const Outer*>(context)->alone[static_cast<std::size_t>(i)] = inner.pieces;
        }
      },
      &outer, 16, 1, 4);
  EXPECT_EQ(outer.alone, std::vector<int>(16, 1));
}

TEST(parallel, several_callers_at_once) {
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([] {
      for (int k = 0; k < 200; ++k) {
        const Counts counts(50);
        rml_parallel(count_rounds, &counts, 50, 1, 3);
        expect_all_done(counts, 3);
      }
    });
  for (std::thread& caller : callers) caller.join();
}

#ifndef __SANITIZE_THREAD__  // ThreadSanitizer does not follow children of a process with threads
TEST(parallel, a_child_of_fork_starts_its_own_threads) {
  const Counts before(100);
  rml_parallel(count_rounds, &before, 100, 1, 4);
  const pid_t child = fork();
  if (child == 0) {
    const Counts counts(100);
    rml_parallel(count_rounds, &counts, 100, 1, 4);
    for (const int n : counts.done)
      if (n != 1) _exit(1);
    exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The parent computes the remaining pieces.
TEST(parallel, a_fork_while_a_loop_runs) {
  struct Held {
    mutable std::atomic<int> begun{0}, done{0};
    mutable std::atomic<bool> released{false};
  } held;
  std::thread caller([&] {
    rml_parallel(
        [](const void* context, std::int64_t, std::int64_t, std::uint32_t) {
          const auto& [begun, done, released] = *static_cast<const Held*>(context);
          ++begun;
          while (!released) std::this_thread::yield();
          ++done;
        },
        &held, 100, 1, 2);
  });
  while (held.begun < 2) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    held.released = true;
    for (int k = 0; k < 100; ++k) {
      const Counts counts(100);
      rml_parallel(count_rounds, &counts, 100, 1, 4);
      for (const int n : counts.done)
        if (n != 1) _exit(1);
      std::this_thread::yield();
    }
    _exit(held.done > 0 ? 2 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  held.released = true;
  caller.join();
  EXPECT_EQ(held.done, 8);
}

std::size_t threads_now() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(parallel, unloading_the_library_ends_its_threads) {
  const std::size_t before = threads_now();
  void* library = dlopen(RML_PARALLEL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto parallel = reinterpret_cast<decltype(&rml_parallel)>(dlsym(library, "rml_parallel"));
  ASSERT_NE(parallel, nullptr);
  const Counts counts(100);
  parallel(count_rounds, &counts, 100, 1, 4);
  expect_all_done(counts, 4);
  EXPECT_EQ(threads_now(), before + 3);
  dlclose(library);
  EXPECT_EQ(threads_now(), before);
}
#endif

}  // namespace
