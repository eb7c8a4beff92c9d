// A thread that waits for one of several cases: it first polls without locks, then with the locks
// of all channels, and then sleeps.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/channel/core.h"

namespace rml::channels {

namespace {

// Adapts the number of pauses for which a thread polls before it sleeps to its recent success.
// Two running threads hand over within a microsecond, while a sleeping one takes many
// microseconds to wake up; if the other one then sleeps as well, they wake each other for each
// message. So a thread that has stopped polling occasionally polls for longer than a wake-up
// takes, to find out whether it is worth it again. If other threads occupy the processors it is
// not, and most waits poll for a moment only.
class LookOut {
 public:
  int pauses() {
    if (!several_processors() || Runner::of_this_thread() != nullptr) return 0;
    return pauses_ > least || ++waits_ % seldom != 0 ? pauses_ : most;
  }
  void ends(bool in_time) { pauses_ = in_time ? std::min(2 * pauses_, most) : std::max(pauses_ / 2, least); }

 private:
  static constexpr int least = 25, most = 800;
  static constexpr unsigned seldom = 16;
  int pauses_ = 200;
  unsigned waits_ = 0;
};

LookOut& look_out() {
  constinit thread_local LookOut mine;
  return mine;
}

}  // namespace

bool Sleeper::reserve() {
  for (std::uint32_t seen = state.load(std::memory_order_relaxed), tries = 0;;) {
    if (seen == done) return false;
    if (seen == reserved) {  // another thread has reserved the sleeper, which takes a few instructions only
      if (++tries < 200) {
        relax();
      } else {
        sched_yield();
      }
      seen = state.load(std::memory_order_relaxed);
    } else if (state.compare_exchange_weak(seen, reserved, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      was = seen;
      return true;
    }
  }
}

void Sleeper::give_up() { state.store(was, std::memory_order_release); }

void Sleeper::finish(std::uint32_t index, Outcome result, Wakes& wakes) {
  chosen = index, outcome = result;
  if (watch != nullptr) watch->runs();
  const bool asleep = was == sleeping;
  const auto* const word = &state;
  Runner* const of = runner;
  state.store(done, std::memory_order_release);
  if (asleep) wakes.add(word, of);
}

void Sleeper::finish_alone(Outcome result, Wakes& wakes) {
  outcome = result;
  const auto* const word = &state;
  Runner* const of = runner;
  bool asleep = true;
  if (of != nullptr)
    state.store(done, std::memory_order_release);
  else
    asleep = state.exchange(done, std::memory_order_acq_rel) == sleeping;
  if (asleep) wakes.add(word, of);
}

void Sleeper::end(Outcome result) {
  Wakes wakes;
  if (reserve()) finish(0, result, wakes);
}

// A stop and a deadline end the wait like other threads: they reserve the sleeper first.
void Sleeper::block(const Patience& patience, bool looks_out) {
  if (looks_out) {
    const int pauses = look_out().pauses();
    for (int k = 0; k < pauses && !is_done(); ++k) relax();
    if (pauses > 0) look_out().ends(is_done());
    if (runner == nullptr && is_done()) return;
  }
  const auto on_stop = [this] { end(Outcome::stopped); };
  std::optional<std::stop_callback<decltype(on_stop)>> callback;
  if (patience.stop.stop_possible()) callback.emplace(patience.stop, on_stop);
  if (runner != nullptr) return runner->park(*this, patience.deadline);
  for (;;) {
    std::uint32_t seen = state.load(std::memory_order_acquire);
    if (seen == done) return;
    if (seen == spinning) {
      state.compare_exchange_strong(seen, sleeping, std::memory_order_acq_rel);
    } else if (seen == reserved) {
      sched_yield();
    } else if (!futex_wait(state, sleeping, patience.deadline)) {
      end(Outcome::timed_out);
    }
  }
}

namespace {

// An array whose length is known at run time and mostly small.
template <typename T>
class Several {
 public:
  explicit Several(std::size_t count) : count_(count) {
    if (count > few_.size()) many_.resize(count);
  }
  std::span<T> all() { return {count_ > few_.size() ? many_.data() : few_.data(), count_}; }

 private:
  std::array<T, 4> few_{};
  std::vector<T> many_;
  std::size_t count_;
};

// Each thread has a sequence of its own.
std::uint32_t random_below(std::uint32_t n) {
  constinit thread_local std::uint64_t state = 0;
  if (state == 0) {
    state = reinterpret_cast<std::uintptr_t>(&state) ^
            static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  state += 0x9e3779b97f4a7c15;  // the state is a counter, whose bits are mixed below
  std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  z ^= z >> 27;
  return static_cast<std::uint32_t>(((z >> 32) * n) >> 32);
}

// Polls a few cases once, in random order, if all have buffers. This suffices for most calls.
Chosen at_once(std::span<const Case> cases) {
  constexpr std::size_t few = 8;
  std::array<std::uint8_t, few> order;
  std::uint32_t count = 0;
  if (cases.size() > few) return {0, Outcome::not_ready};
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (cases[k].core == nullptr) continue;
    if (!cases[k].core->buffered()) return {0, Outcome::not_ready};
    order[count++] = static_cast<std::uint8_t>(k);
  }
  for (; count > 0; --count) {
    std::uint8_t& index = order[count > 1 ? random_below(count) : 0];
    const Outcome outcome = cases[index].core->quick(cases[index]);
    if (outcome != Outcome::not_ready) return {index, outcome};
    index = order[count - 1];
  }
  return {0, Outcome::not_ready};
}

// Polls at least once. If the call may wait, polls repeatedly.
template <typename Look>
Chosen look_for_a_while(bool waits, Look look) {
  Chosen chosen = look();
  if (chosen.outcome != Outcome::not_ready || !waits) return chosen;
  const int pauses = look_out().pauses();
  for (int k = 0; k < pauses && chosen.outcome == Outcome::not_ready; ++k) {
    relax();
    chosen = look();
  }
  if (pauses > 0) look_out().ends(chosen.outcome != Outcome::not_ready);
  return chosen;
}

// The state of one wait. Cases without a channel are omitted.
class Waiting {
 public:
  Waiting(std::span<const Case> cases, const Patience& patience)
      : cases_(cases),
        patience_(patience),
        order_(count_channels(cases)),
        nodes_(order_.all().size()),
        locks_(order_.all().size()) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < cases.size(); ++k) {
      if (cases[k].core == nullptr) continue;
      order_.all()[n] = k;
      locks_.all()[n++] = cases[k].core;
      buffered_ &= cases[k].core->buffered();
    }
  }

  Chosen run() {
    shuffle();
    if (const Chosen chosen = without_locks(); chosen.outcome != Outcome::not_ready) return chosen;
    if (!patience_.waits) return look();
    Sleeper sleeper;
    if (const Chosen chosen = enqueue(sleeper); chosen.outcome != Outcome::not_ready) return chosen;
    if (sleeper.watch != nullptr) sleeper.watch->check();
    sleeper.block(patience_, !buffered_);
    return after(sleeper);
  }

 private:
  static std::size_t count_channels(std::span<const Case> cases) {
    return static_cast<std::size_t>(std::ranges::count_if(cases, [](const Case& c) { return c.core != nullptr; }));
  }

  void shuffle() {
    const std::span<std::size_t> order = order_.all();
    for (std::size_t k = order.size(); k > 1; --k) {
      std::swap(order[k - 1], order[random_below(static_cast<std::uint32_t>(k))]);
    }
  }

  // If all channels have buffers, polls them without locks; repeatedly if the call may wait.
  Chosen without_locks() {
    if (!buffered_ || order_.all().empty()) return {0, Outcome::not_ready};
    return look_for_a_while(patience_.waits, [this]() -> Chosen {
      for (const std::size_t index : order_.all()) {
        const Outcome outcome = cases_[index].core->quick(cases_[index]);
        if (outcome != Outcome::not_ready) return {index, outcome};
      }
      return {0, Outcome::not_ready};
    });
  }

  // Locks each channel once, in the order of addresses.
  void lock_all() {
    std::span<Core*> locks = locks_.all();
    std::ranges::sort(locks, std::less<>());
    Core* before = nullptr;
    for (Core* const core : locks) {
      if (core != before) core->lock().lock();
      before = core;
    }
  }
  void unlock_all() {
    Core* before = nullptr;
    for (Core* const core : locks_.all()) {
      if (core != before) core->lock().unlock();
      before = core;
    }
  }

  Chosen poll(Wakes& wakes) {
    for (const std::size_t index : order_.all()) {
      const Outcome outcome = cases_[index].core->poll(cases_[index], wakes);
      if (outcome != Outcome::not_ready) return {index, outcome};
    }
    return {0, Outcome::not_ready};
  }

  // Polls under the locks. "None is ready" must hold for all cases at one moment, although
  // buffers change without the locks; so it only counts if their counters are unchanged
  // afterwards.
  Chosen look() {
    Wakes wakes;
    Several<std::uint64_t> versions(order_.all().size());
    const auto version = [&](std::size_t k) {
      const Case& c = cases_[order_.all()[k]];
      return c.core->version(c.sends);
    };
    lock_all();
    Chosen chosen{0, Outcome::not_ready};
    for (bool same = false; !same && chosen.outcome == Outcome::not_ready;) {
      for (std::size_t k = 0; k < order_.all().size(); ++k) versions.all()[k] = version(k);
      chosen = poll(wakes);
      same = true;
      for (std::size_t k = 0; k < order_.all().size(); ++k) same &= versions.all()[k] == version(k);
    }
    unlock_all();
    return chosen;
  }

  // Adds nodes to all queues, unless a case is ready by now.
  Chosen enqueue(Sleeper& sleeper) {
    Wakes wakes;
    lock_all();
    if (const Chosen chosen = poll(wakes); chosen.outcome != Outcome::not_ready) {
      unlock_all();
      return chosen;
    }
    const std::span<Node> nodes = nodes_.all();
    for (std::size_t k = 0, n = 0; k < cases_.size(); ++k) {
      const Case& c = cases_[k];
      if (c.core == nullptr) continue;
      Node& node = nodes[n++];
      node = {c.core, &sleeper, c.slot, nullptr, nullptr, static_cast<std::uint32_t>(k), c.sends};
      c.core->enqueue(node, wakes);
    }
    const bool done = sleeper.is_done();
    ThreadWatch* const watch = ThreadWatch::of_this_thread();
    if (!done && watch != nullptr && patience_.deadline == no_deadline) {
      sleeper.watch = watch;
      watch->blocks(sleeper, nodes, patience_.stop);
    }
    unlock_all();
    wakes.flush();
    return done && sleeper.runner == nullptr ? after(sleeper) : Chosen{0, Outcome::not_ready};
  }

  // A node that was removed by the thread that ended the wait is not searched for again.
  Chosen after(Sleeper& sleeper) {
    if (sleeper.watch != nullptr) sleeper.watch->returns();
    const bool by_channel = sleeper.outcome == Outcome::done || sleeper.outcome == Outcome::closed;
    const std::span<Node> nodes = nodes_.all();
    if (nodes.size() > 1 || !by_channel) {
      for (Node& node : nodes) node.core->dequeue(node);
    }
    for (const Node& node : nodes) node.core->leave();
    return {sleeper.chosen, sleeper.outcome, true};
  }

  const std::span<const Case> cases_;
  const Patience& patience_;
  Several<std::size_t> order_;  // indices of the cases with a channel, shuffled
  Several<Node> nodes_;
  Several<Core*> locks_;
  bool buffered_ = true;
};

// Waits for a single send or receive. It does the same as Waiting, with less work.
Chosen wait_for_one(const Case& c, const Patience& patience) {
  Core& core = *c.core;
  if (core.buffered()) {
    const Chosen chosen = look_for_a_while(true, [&] { return Chosen{0, core.quick(c)}; });
    if (chosen.outcome != Outcome::not_ready) return chosen;
  }
  Wakes wakes;
  core.lock().lock();
  const Outcome outcome = core.poll(c, wakes);
  if (outcome != Outcome::not_ready) {
    core.lock().unlock();
    return {0, outcome};
  }
  Sleeper sleeper;
  ThreadWatch* const watch = patience.deadline == no_deadline ? ThreadWatch::of_this_thread() : nullptr;
  const bool shared = watch != nullptr || patience.deadline != no_deadline || patience.stop.stop_possible();
  Node node{&core, &sleeper, c.slot, nullptr, nullptr, 0, c.sends, false, shared};
  core.enqueue(node, wakes);
  const bool done = sleeper.is_done(), looks_out = !core.buffered();
  if (!done && watch != nullptr) {
    sleeper.watch = watch;
    watch->blocks(sleeper, {&node, 1}, patience.stop);
  }
  core.lock().unlock();  // if `shared` is false, the channel may be destroyed from here on
  wakes.flush();
  if (!done || sleeper.runner != nullptr) {
    if (sleeper.watch != nullptr) sleeper.watch->check();
    if (sleeper.runner != nullptr && !shared)
      sleeper.runner->park(sleeper, no_deadline);
    else
      sleeper.block(patience, looks_out);
  }
  if (sleeper.watch != nullptr) sleeper.watch->returns();
  if (shared) {
    if (sleeper.outcome != Outcome::done && sleeper.outcome != Outcome::closed) core.dequeue(node);
    core.leave();
  }
  return {0, sleeper.outcome, true};
}

}  // namespace

Chosen wait(std::span<const Case> cases, const Patience& patience) {
  if (cases.size() == 1 && cases[0].core != nullptr && patience.waits) return wait_for_one(cases[0], patience);
  if (const Chosen chosen = at_once(cases); chosen.outcome != Outcome::not_ready) return chosen;
  return Waiting(cases, patience).run();
}

}  // namespace rml::channels
