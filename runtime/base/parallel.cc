// A pool of threads. A loop is divided into shares, one per thread, and each share into a few
// pieces. A thread first takes pieces of its own share, so that it touches the same data in every
// cycle, then pieces that other threads have not begun. A thread that is late or missing
// therefore delays no other thread.
//
// A piece is taken by decrementing the word of its share, which also contains the number of the
// loop. A thread that is late finds no pieces of its loop left, even if it has already read parts
// of the next loop. Loop numbers (56 bits) do not repeat. All data is static, one loop runs at a
// time, and no part of the C++ library needs to be linked.
#include "runtime/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <ctime>

namespace rml::rt {
namespace {

constexpr std::uint32_t most_workers = RML_MOST_THREADS - 1;
constexpr std::uint32_t pieces_of_share = 4;
// Longer than most pauses between two loops of a step, and than the time to wake a thread.
constexpr std::int64_t looks_out = 200'000;  // nanoseconds for which a thread without work polls before it sleeps
constexpr std::int64_t stays_apart = 10'000'000;
constexpr unsigned bits_of_left = 8;  // number of low bits of a share's word, which count the pieces left
static_assert(pieces_of_share >> bits_of_left == 0);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

long processors() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  return sysconf(_SC_NPROCESSORS_ONLN);
}

constexpr std::uint64_t word_of(std::uint64_t loop, std::uint32_t left) { return loop << bits_of_left | left; }

class Pool {
 public:
  constexpr Pool() = default;
  ~Pool();
  void run(rml_piece* piece, const void* context, std::int64_t count, std::uint32_t threads);
  void forget();  // forgets the threads; called in the child of a fork, which has none

  std::atomic<bool> busy{false};
  std::atomic<std::uint32_t> limit{0};

 private:
  struct alignas(64) Share {
    std::atomic<std::uint64_t> word{0};  // number of the loop; in the low bits, the number of its pieces left
  };
  struct Worker {
    Pool* pool = nullptr;
    std::uint32_t index = 0;
    std::uint64_t last = 0;  // number of the last loop before the thread was started
    pthread_t thread{};
  };
  struct Loop {
    std::uint64_t number;
    std::uint32_t threads, pieces;
    rml_piece* piece;
    const void* context;
    std::int64_t count;
  };

  void start(std::uint32_t workers);
  void keep_apart(int processor);
  static void* work(void* worker);
  std::uint64_t wait_for_loop(std::uint64_t last);
  Loop read(std::uint64_t number) const;
  std::uint32_t take_part(const Loop&, std::uint32_t worker);
  void finish(std::uint32_t pieces);
  void wait_for_end();
  void wake(pthread_cond_t&);

  // The current loop; changed only while the loop before has no pieces left.
  std::atomic<rml_piece*> piece_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<std::int64_t> count_{0};
  std::atomic<std::uint32_t> threads_{0}, pieces_{0};
  Share shares_[RML_MOST_THREADS];
  alignas(64) std::atomic<std::uint64_t> number_{0};
  alignas(64) std::atomic<std::uint32_t> unfinished_{0};  // number of unfinished pieces

  // number of sleeping threads, without the caller
  alignas(64) std::atomic<std::uint32_t> sleeping_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stop_{false}, crowded_{false};  // `crowded_`: there are more threads than processors
  bool handles_fork_ = false;
  std::uint32_t started_ = 0, startable_ = most_workers;
  int callers_ = -1;  // processor of the caller, which the threads avoid
  std::int64_t apart_since_ = 0;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER, finished_ = PTHREAD_COND_INITIALIZER;
  Worker workers_[most_workers];
};

constinit Pool pool;

// Starts threads. If one cannot be started, the pool works with fewer and does not try again.
void Pool::start(std::uint32_t workers) {
  if (!handles_fork_) {
    handles_fork_ = true;
    pthread_atfork(nullptr, nullptr, [] { pool.forget(); });
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::max<std::size_t>(1u << 20, PTHREAD_STACK_MIN));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (started_ < workers) {
    Worker& next = workers_[started_];
    next.pool = this;
    next.index = started_ + 1;
    next.last = number_.load(std::memory_order_relaxed);
    if (pthread_create(&next.thread, &attributes, work, &next) != 0) {
      startable_ = started_;
      break;
    }
    ++started_;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  crowded_.store(started_ + 1 > processors(), std::memory_order_relaxed);
  callers_ = -1, apart_since_ = 0;
}

// On a busy machine, a thread that is woken may be placed on the caller's processor, where it
// waits for the caller. So the threads are kept off that processor. The assignment is updated
// only from time to time.
void Pool::keep_apart(int processor) {
  const std::int64_t time = now();
  if (apart_since_ != 0 && time - apart_since_ < stays_apart) return;
  apart_since_ = time, callers_ = processor;
  cpu_set_t usable;
  if (processor < 0 || crowded_.load() || sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  CPU_CLR(static_cast<std::size_t>(processor), &usable);
  if (CPU_COUNT(&usable) == 0) return;
  for (std::uint32_t k = 0; k < started_; ++k) pthread_setaffinity_np(workers_[k].thread, sizeof usable, &usable);
}

Pool::~Pool() {
  busy.store(true);  // a later caller sees that the pool is busy, and works alone
  pthread_mutex_lock(&mutex_);
  stop_.store(true);
  pthread_cond_broadcast(&changed_);
  pthread_mutex_unlock(&mutex_);
  for (std::uint32_t k = 0; k < started_; ++k) pthread_join(workers_[k].thread, nullptr);
}

// Resets the pool in the child; the rest of an unfinished loop belongs to the parent.
void Pool::forget() {
  started_ = 0, startable_ = most_workers;
  sleeping_.store(0);
  caller_sleeps_.store(false);
  busy.store(false);
  mutex_ = PTHREAD_MUTEX_INITIALIZER;
  changed_ = finished_ = PTHREAD_COND_INITIALIZER;
}

void* Pool::work(void* argument) {
  const Worker& self = *static_cast<const Worker*>(argument);
  Pool& pool = *self.pool;
  for (std::uint64_t last = self.last; !pool.stop_.load();) {
    last = pool.wait_for_loop(last);
    const Loop loop = pool.read(last);
    if (self.index < loop.threads) pool.finish(pool.take_part(loop, self.index));
  }
  return nullptr;
}

// Waits for a loop other than the last one and returns its number; returns the last number if the
// pool stops.
std::uint64_t Pool::wait_for_loop(std::uint64_t last) {
  const std::int64_t until = now() + looks_out;
  while (!crowded_.load(std::memory_order_relaxed) && !stop_.load(std::memory_order_relaxed)) {
    for (int k = 0; k < 64; ++k) {
      const std::uint64_t number = number_.load(std::memory_order_acquire);
      if (number != last) return number;
      relax();
    }
    if (now() > until) break;
  }
  pthread_mutex_lock(&mutex_);
  sleeping_.fetch_add(1);
  while (number_.load() == last && !stop_.load()) pthread_cond_wait(&changed_, &mutex_);
  sleeping_.fetch_sub(1);
  pthread_mutex_unlock(&mutex_);
  return number_.load();
}

// Reads the loop. It may already have ended, and the values may partly belong to the next loop;
// then no pieces with this number are left.
Pool::Loop Pool::read(std::uint64_t number) const {
  constexpr auto any = std::memory_order_relaxed;
  return {number, threads_.load(any), pieces_.load(any), piece_.load(any), context_.load(any), count_.load(any)};
}

// Returns the number of pieces computed.
std::uint32_t Pool::take_part(const Loop& loop, std::uint32_t worker) {
  std::uint32_t done = 0;
  const std::int64_t all = std::int64_t{loop.threads} * loop.pieces;
  const auto begin_of = [&](std::int64_t k) { return loop.count / all * k + std::min(loop.count % all, k); };
  for (std::uint32_t k = 0; k < loop.threads; ++k) {
    const std::uint32_t share = (worker + k) % loop.threads;
    std::atomic<std::uint64_t>& word = shares_[share].word;
    for (std::uint64_t seen = word.load(std::memory_order_acquire);;) {
      const auto left = static_cast<std::uint32_t>(seen % (1u << bits_of_left));
      if (left == 0 || seen != word_of(loop.number, left)) break;
      if (!word.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      const std::int64_t piece = std::int64_t{share} * loop.pieces + (loop.pieces - left);
      loop.piece(loop.context, begin_of(piece), begin_of(piece + 1), worker);
      ++done;
      seen = word.load(std::memory_order_acquire);
    }
  }
  return done;
}

void Pool::wake(pthread_cond_t& condition) {
  pthread_mutex_lock(&mutex_);
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex_);
}

void Pool::finish(std::uint32_t pieces) {
  if (pieces > 0 && unfinished_.fetch_sub(pieces) == pieces && caller_sleeps_.load()) wake(finished_);
}

// Waits for unfinished pieces. The caller goes to sleep if that takes long, because a late thread
// may need this processor. Cancellation of the caller is postponed meanwhile, since pieces use
// its stack.
void Pool::wait_for_end() {
  const std::uint32_t patience = crowded_.load(std::memory_order_relaxed) ? 100 : 10'000;
  for (std::uint32_t k = 0; k < patience; ++k) {
    if (unfinished_.load(std::memory_order_acquire) == 0) return;
    relax();
  }
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_mutex_lock(&mutex_);
  caller_sleeps_.store(true);
  while (unfinished_.load() != 0) pthread_cond_wait(&finished_, &mutex_);
  caller_sleeps_.store(false);
  pthread_mutex_unlock(&mutex_);
  pthread_setcancelstate(before, nullptr);
}

// Called by the one thread that has set `busy`.
void Pool::run(rml_piece* piece, const void* context, std::int64_t count, std::uint32_t threads) {
  if (const std::uint32_t workers = std::min(threads - 1, startable_); started_ < workers) start(workers);
  if (const int processor = sched_getcpu(); processor != callers_) keep_apart(processor);
  constexpr auto any = std::memory_order_relaxed;
  const std::uint64_t number = number_.load(any) + 1;
  const auto pieces = static_cast<std::uint32_t>(std::clamp<std::int64_t>(count / threads, 1, pieces_of_share));
  piece_.store(piece, any), context_.store(context, any), count_.store(count, any);
  threads_.store(threads, any), pieces_.store(pieces, any);
  unfinished_.store(threads * pieces, any);
  for (std::uint32_t k = 0; k < threads; ++k) shares_[k].word.store(word_of(number, pieces), std::memory_order_release);
  number_.store(number);
  if (sleeping_.load() > 0) wake(changed_);
  finish(take_part(read(number), 0));
  wait_for_end();
}

}  // namespace
}  // namespace rml::rt

extern "C" void rml_parallel(rml_piece* piece, const void* context, std::int64_t count, std::int64_t grain,
                             std::uint32_t threads) {
  rml::rt::Pool& pool = rml::rt::pool;
  const std::uint32_t limit = pool.limit.load(std::memory_order_relaxed);
  if (limit > 0) threads = std::min(threads, limit);
  threads = std::clamp(threads, 1u, RML_MOST_THREADS);
  if (count / threads < grain) threads = static_cast<std::uint32_t>(count / std::max<std::int64_t>(grain, 1));
  if (threads < 2 || pool.busy.exchange(true, std::memory_order_acquire)) {
    if (count > 0) piece(context, 0, count, 0);
    return;
  }
  pool.run(piece, context, count, threads);
  pool.busy.store(false, std::memory_order_release);
}

extern "C" void rml_limit_threads(std::uint32_t n) { rml::rt::pool.limit.store(n, std::memory_order_relaxed); }
