// The maker of the group is one of the fibers that take turns. When no other fiber is ready, it
// handles outside events (wake-ups by other threads, deadlines), and sleeps if there are none.
//
//     ready ──▶ running ──▶ parked ──▶ ready     by unpark: of this thread, or through the inbox
//                  └──▶ over
//
// A fiber that parks switches directly to the next ready one. Only the thread of the group runs
// its fibers, so a fiber has left its stack before it is resumed.
#include "runtime/channel/fibers.h"

#include <cxxabi.h>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/channel/switch_notes.h"

namespace rml {

namespace {

using boost::context::stack_context;
using channels::Runner;
using channels::Sleeper;
using channels::ThreadWatch;
using Context = boost::context::fiber;

class Fibers;

// The state of exception handling, in the layout of the C++ library. It belongs to a stack but is
// stored per thread, so it is saved and restored at each switch.
struct Handled {
  void* caught = nullptr;
  unsigned uncaught = 0;
#ifdef __ARM_EABI_UNWINDER__
  void* propagating = nullptr;
#endif
};

class Fiber final : public Runner {
 public:
  explicit Fiber(Fibers& of) : of(of) {}
  void park(Sleeper& sleeper, Deadline deadline) override;
  void unpark() override;
  void pass() override;

  Context context;  // saved context while the fiber does not run
  std::function<void()> work;
  ThreadWatch* watch = nullptr;
  Handled handled;
  SwitchNotes notes;
  Fiber* next = nullptr;  // next in the list of ready fibers or in the inbox

  Fibers& of;
};

// A list of fibers; the first one in is the first one out.
class Queue {
 public:
  bool empty() const { return first_ == nullptr; }
  void add(Fiber& fiber) {
    fiber.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &fiber;
    last_ = &fiber;
  }
  Fiber& take() { return *std::exchange(first_, first_->next); }

 private:
  Fiber *first_ = nullptr, *last_ = nullptr;
};

// Stacks are reused, because mapping one takes longer than most functions run.
class Stacks {
 public:
  explicit Stacks(std::size_t bytes) : fresh_(bytes) {}
  ~Stacks() {
    for (stack_context& stack : unused_) fresh_.deallocate(stack);
  }
  stack_context allocate() {
    if (unused_.empty()) return fresh_.allocate();
    const stack_context stack = unused_.back();
    unused_.pop_back();
    return stack;
  }
  void deallocate(const stack_context& stack) noexcept { unused_.push_back(stack); }
  void reserve(std::size_t count) { unused_.reserve(count); }

 private:
  boost::context::protected_fixedsize_stack fresh_;
  std::vector<stack_context> unused_;
};

// The allocator of stacks, in the form that the library asks for. Each stack has a copy of it.
struct StackOf {
  Stacks* stacks;
  stack_context allocate() const { return stacks->allocate(); }
  void deallocate(stack_context& stack) const noexcept { stacks->deallocate(stack); }
};

class Fibers final : public GoGroup::Executor {
 public:
  explicit Fibers(std::size_t stack_bytes) : stacks_(stack_bytes), maker_(*this), running_(&maker_) {
    if (Runner::of_this_thread() != nullptr) throw std::logic_error("a group on fibers in a thread that has one");
    Runner::of_this_thread() = &maker_;
  }
  ~Fibers() override {
    // waits for threads that have woken a fiber and are about to leave
    while (outside_.load(std::memory_order_acquire) != 0) sched_yield();
    Runner::of_this_thread() = nullptr;
  }

  void start(std::function<void()> work) override {
    if (!is_here()) throw std::logic_error("a fiber is started by another thread than its group's");
    auto fiber = std::make_unique<Fiber>(*this);
    Fiber& of = *fiber;
    of.work = std::move(work);
    stacks_.reserve(alive_ + 1);
    const stack_context stack = stacks_.allocate();
    of.notes.begin(stack.sp, stack.size);
    of.context = Context(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                         StackOf{&stacks_}, [this, &of](Context&& from) { return run(of, std::move(from)); });
    ready_.add(*fiber.release());
    ++alive_;
  }

  void wait() override {
    run_until([this] { return alive_ == 0; });
  }

  // Parks the running fiber.
  void park(Sleeper& sleeper, Deadline deadline) {
    const auto timed = std::pair(deadline, &sleeper);
    if (deadline != no_deadline) timers_.insert(timed);
    let_others_run();
    if (deadline != no_deadline) timers_.erase(timed);
  }

  void pass() {
    ready_.add(*running_);
    let_others_run();
  }

  void unpark(Fiber& fiber) {
    if (is_here()) return ready_.add(fiber);
    outside_.fetch_add(1, std::memory_order_relaxed);
    Fiber* head = inbox_.load(std::memory_order_relaxed);
    do {
      fiber.next = head;
    } while (!inbox_.compare_exchange_weak(head, &fiber, std::memory_order_release, std::memory_order_relaxed));
    bell_.ring();
    outside_.fetch_sub(1, std::memory_order_release);
  }

 private:
  // All runners are fibers, so the cast is valid.
  bool is_here() const {
    const Runner* const here = Runner::of_this_thread();
    return here != nullptr && &static_cast<const Fiber*>(here)->of == this;
  }

  // Runs other fibers until it is the turn of this one again, which may be immediately.
  void let_others_run() {
    if (running_ == &maker_) {
      maker_is_up_ = false;
      run_until([this] { return maker_is_up_; });
    } else if (Fiber& to = next(); &to != running_) {
      go_over(to);
    }
  }

  // The loop of the thread that made the group: runs fibers until the condition holds.
  template <typename Condition>
  void run_until(Condition condition) {
    while (!condition()) {
      look_outside();
      if (ready_.empty()) {
        bell_.wait([this] { return inbox_.load(std::memory_order_acquire) != nullptr; }, {},
                   timers_.empty() ? no_deadline : timers_.begin()->first);
      } else if (Fiber& next = take(); &next != &maker_) {
        go_over(next);
      }
    }
  }

  void look_outside() {
    Fiber* first = nullptr;
    for (Fiber* got = inbox_.exchange(nullptr, std::memory_order_acquire); got != nullptr;) {
      Fiber* const next = got->next;  // the inbox has the newest fiber first
      got->next = first;
      first = std::exchange(got, next);
    }
    while (first != nullptr) ready_.add(*std::exchange(first, first->next));
    if (timers_.empty()) return;
    for (const Deadline now = std::chrono::steady_clock::now(); !timers_.empty() && timers_.begin()->first <= now;) {
      Sleeper* const sleeper = timers_.begin()->second;
      timers_.erase(timers_.begin());
      sleeper->end(Outcome::timed_out);
    }
  }

  bool is_outside_due() const { return inbox_.load(std::memory_order_relaxed) != nullptr || !timers_.empty(); }

  Fiber& take() {
    Fiber& next = ready_.take();
    if (&next == &maker_) maker_is_up_ = true;
    return next;
  }
  Fiber& next() { return ready_.empty() || is_outside_due() ? maker_ : take(); }

  // Switches to another fiber; returns when a fiber switches back.
  void go_over(Fiber& to) {
    Fiber& from = *running_;
    from.watch = ThreadWatch::of_this_thread();
    from.handled = *handled_;
    from.notes.leave(to.notes);
    before_ = &from;
    take_up(to);
    Context other = std::move(to.context).resume();
    arrive(from, std::move(other));
  }

  // Called after a switch: the previous fiber has left its stack, or has ended.
  void arrive(Fiber& here, Context&& other) {
    here.notes.arrive();
    if (before_ != nullptr) before_->context = std::move(other);
    delete std::exchange(over_, nullptr);
  }

  void take_up(Fiber& fiber) {
    running_ = &fiber;
    Runner::of_this_thread() = &fiber;
    ThreadWatch::of_this_thread() = fiber.watch;
    *handled_ = fiber.handled;
  }

  // The main function of a fiber.
  Context run(Fiber& self, Context&& from) {
    arrive(self, std::move(from));
    self.work();
    self.work = nullptr;
    --alive_;
    Fiber& to = next();
    self.notes.end(to.notes);
    before_ = nullptr;
    over_ = &self;
    take_up(to);
    return std::move(to.context);
  }

  Handled* const handled_ = reinterpret_cast<Handled*>(abi::__cxa_get_globals());
  Stacks stacks_;
  Fiber maker_;
  Fiber* running_;
  bool maker_is_up_ = false;  // true if the thread that made the group can continue
  Fiber* before_ = nullptr;   // fiber that was just left; null: its function has ended
  Fiber* over_ = nullptr;
  Queue ready_;
  std::set<std::pair<Deadline, Sleeper*>> timers_;
  std::size_t alive_ = 0;
  std::atomic<Fiber*> inbox_{nullptr};
  std::atomic<std::uint32_t> outside_{0};  // number of threads in unpark
  Doorbell bell_;
};

void Fiber::park(Sleeper& sleeper, Deadline deadline) { of.park(sleeper, deadline); }
void Fiber::unpark() { of.unpark(*this); }
void Fiber::pass() { of.pass(); }

}  // namespace

std::unique_ptr<GoGroup::Executor> on_fibers(std::size_t stack_bytes) { return std::make_unique<Fibers>(stack_bytes); }

}  // namespace rml
