// A task runs instants until something is missing or its time slice is over. Before it waits, it
// writes a note about the missing thing and checks once more. The task that later provides it
// finds the note and wakes the waiting task.
#include "runtime/scheduler/network.h"

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/channel/futex.h"

namespace rml::rt {

namespace {

constexpr std::uint32_t host = UINT32_MAX;
// A task runs for about these times before other tasks are notified, before the host is notified,
// and before it yields its worker. A sleeping host is woken by the system, which takes as long as
// many short instants.
// nanoseconds
constexpr std::int64_t note_after = 10'000, tell_host_after = 100'000, share = 200'000;
// Time in nanoseconds for which pushed cycles may wait to be announced.
constexpr std::int64_t announce_after = 50'000;

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::int64_t stamp_of(std::int64_t key) { return key >> RML_KEY_BITS; }

// The thing that a task waits for: a code, and the ring if it is room.
struct Missing {
  std::int32_t code = 0;
  std::uint32_t ring = 0;
  bool operator==(const Missing&) const = default;
};

// Returns true if nothing is missing. Otherwise it leaves a note, and the thing was still missing
// after the note was written, so the task that provides it sees the note. If the second check
// finds something else missing, that needs a note and a check of its own.
template <class Waiting, class Look>
bool is_ready(Waiting& waiting, Look look) {
  for (Missing missing = look(); missing.code != 0;) {
    waiting.room.store(missing.ring);
    waiting.on.store(missing.code);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const Missing again = look();
    if (again == missing) return false;
    missing = again;
  }
  if (waiting.on.load(std::memory_order_relaxed) != 0) waiting.on.store(0, std::memory_order_relaxed);
  return true;
}

template <class T>
T& at(void* state, std::uint64_t offset) {
  return *reinterpret_cast<T*>(static_cast<char*>(state) + offset);
}

}  // namespace

std::uint64_t usual_capacity(std::uint64_t element_bytes) {
  constexpr std::uint64_t most = 256, bytes = 1 << 20;
  return std::clamp<std::uint64_t>(bytes / element_bytes, 2, most);
}

unsigned network_workers(unsigned asked) {
  return asked > 0 ? asked : std::max(std::thread::hardware_concurrency(), 1u);
}

struct Network::NetworkTask final : Task {
  NetworkTask(Network& of, std::uint32_t number) : network(of), info(of.network_.tasks[number]), index(number) {}

  Next run(unsigned worker) override;
  bool instant();
  Missing missing(std::int64_t& stamp);
  Missing room(const std::uint32_t* queues, std::uint32_t count, std::int64_t elements, std::int32_t code);
  bool make_room(const std::uint32_t* queues, std::uint32_t count, std::int64_t elements);
  void fail(std::int64_t at) {
    failed = true;
    network.fail(index, at);
  }
  bool pending() const { return info.end != nullptr && at<std::uint8_t>(network.state_, info.pending) != 0; }
  std::int64_t length() const { return at<std::int64_t>(network.state_, info.length); }
  void note(Note how);
  std::int64_t instants() const {
    return std::atomic_ref<std::int64_t>(at<std::int64_t>(network.state_, info.cycle)).load(std::memory_order_acquire);
  }

  Network& network;
  const rml_task& info;
  const std::uint32_t index;
  bool failed = false, begun = false;
  std::int64_t last_stamp = 0;
  bool host_unaware = false;       // the host was not notified of new elements
  std::int64_t told_host = 0;      // time of the last notification while the task continued
  std::int64_t between_notes = 1;  // number of instants between notifications
  std::int64_t idle_since = 0;
  alignas(64) Waiting waits;
  std::atomic<std::int64_t> stamp{0};  // lower bound for the stamps of later instants
};

// ---- a task ----------------------------------------------------------------------------------

Missing Network::NetworkTask::room(const std::uint32_t* queues, std::uint32_t count, std::int64_t elements,
                                   std::int32_t code) {
  for (std::uint32_t k = 0; k < count; ++k)
    if (!network.rings_[queues[k]].has_room(elements)) return {code, queues[k]};
  return {};
}

bool Network::NetworkTask::make_room(const std::uint32_t* queues, std::uint32_t count, std::int64_t elements) {
  rml_header& own = at<rml_header>(network.state_, info.header);
  for (std::uint32_t k = 0; k < count; ++k) {
    NetworkRing& ring = network.rings_[queues[k]];
    if (ring.make_room(elements, own)) continue;
    own.fault = RML_FAULT_MEMORY;
    own.site = UINT32_MAX;
    own.fault_cycle = info.base != 0 ? instants() : last_stamp;
    own.value = static_cast<std::int64_t>(ring.refused());
    return false;
  }
  return true;
}

// Code 0 if an instant can run; stamp_of_instant is then its stamp.
Missing Network::NetworkTask::missing(std::int64_t& stamp_of_instant) {
  stamp_of_instant = last_stamp;
  if (pending()) return room(info.ends, info.n_ends, length(), waits_end_room);
  std::int64_t key = 0;
  if (const std::int32_t code = info.ready(network.state_, &key); code != 0) return {code};
  stamp_of_instant = std::max(last_stamp, rml::rt::stamp_of(key));
  if (!network.may_run(stamp_of_instant, index)) return {RML_WAITS_EVER};
  return room(info.writes, info.n_writes, 1, waits_room);
}

// Runs an instant. Returns false if nothing ran; a note then says why.
bool Network::NetworkTask::instant() {
  std::int64_t next = 0;
  if (!is_ready(waits, [&] { return missing(next); })) return false;
  const bool ends = pending();
  const bool made = ends ? make_room(info.ends, info.n_ends, length()) : make_room(info.writes, info.n_writes, 1);
  last_stamp = next;
  if (stamp.load(std::memory_order_relaxed) != next) stamp.store(next, std::memory_order_release);
  at<rml_header>(network.state_, info.header).pushed = next;
  if (!made || (ends ? info.end(network.state_) : info.step(network.state_)) != RML_OK) {
    fail(next);
    return false;
  }
  if (!begun) {
    begun = true;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const std::uint32_t f : network.followers_[index]) network.scheduler_->wake(*network.tasks_[f]);
  }
  return true;
}

// Notifies the tasks, and the host, that wait for new elements or for room.
void Network::NetworkTask::note(Note how) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  host_unaware = how == Note::tasks;
  for (std::uint32_t k = 0; k < info.n_writes; ++k) network.wake_readers(info.writes[k], how);
  for (std::uint32_t k = 0; k < info.n_ends; ++k) network.wake_readers(info.ends[k], how);
  for (std::uint32_t k = 0; k < info.n_reads; ++k) network.wake_writer(info.reads[k], how);
  if (how != Note::tasks && network.out_.on.load(std::memory_order_relaxed) == waits_frontier) network.signal();
}

// Several short instants are announced together, because waking takes longer than they do. Before
// the task waits, it announces all instants.
Task::Next Network::NetworkTask::run(unsigned worker) {
  const auto trace = [&](Trace::State state, std::int64_t from, std::int64_t to, std::int64_t count) {
    if (network.trace_ != nullptr) network.trace_->record(worker, index, state, from, to, count);
  };
  const bool traced = network.trace_ != nullptr;
  // 0: unknown, because reading the clock is slow
  std::int64_t begin = 0, last = traced || between_notes == 1 ? now() : 0;
  trace(Trace::waiting, idle_since, last, 1);
  while (!failed && !network.cancelled_.load(std::memory_order_relaxed)) {
    std::int64_t count = 0;
    while (count < between_notes && instant()) ++count;
    const bool waits = count < between_notes;
    const std::int64_t time = !waits || traced ? now() : 0;
    const bool others_first = begin != 0 && time - begin > share;
    const Note how = waits ? Note::last : others_first || time - told_host > tell_host_after ? Note::all : Note::tasks;
    if (count > 0 || host_unaware) note(how);
    if (traced) {
      idle_since = now();
      if (count > 0) trace(Trace::computing, last, time, count), trace(Trace::emitting, time, idle_since, count);
      if (failed) trace(Trace::failed, idle_since, idle_since, 1);
    }
    if (waits) return Next::wait;
    if (last != 0)
      between_notes = std::clamp<std::int64_t>(count * note_after / std::max<std::int64_t>(time - last, 1), 1, 1024);
    if (begin == 0) begin = time;
    if (how != Note::tasks) told_host = time;
    last = time;
    if (others_first) return Next::again;
  }
  return Next::wait;
}

// ---- the network -----------------------------------------------------------------------------

Network::Network(const rml_program& program, void* state, const NetworkOptions& options)
    : program_(program), network_(*program.network), state_(state), trace_(options.trace) {
  rml_header& memory = header();
  for (std::uint32_t q = 0; q < network_.n_queues; ++q) {
    const rml_queue& queue = network_.queues[q];
    rings_.emplace_back(queue, program.memories[queue.memory].count, state,
                        options.capacity > 0 ? options.capacity : usual_capacity(queue.element_bytes));
  }
  followers_.resize(network_.n_tasks);
  for (std::uint32_t t = 0; t < network_.n_tasks; ++t) {
    const rml_task& task = network_.tasks[t];
    rml_header& own = at<rml_header>(state, task.header);
    own.seed = memory.seed;
    own.horizon = memory.horizon;
    own.grow = memory.grow;
    own.context = memory.context;
    own.segments = own.longest_segment = 0;
    tasks_.push_back(std::make_unique<NetworkTask>(*this, t));
    if (task.base != 0) paced_.push_back(t);
    if (task.can_fail != 0) fallible_.push_back(t);
    for (std::uint32_t k = 0; k < task.n_after; ++k) followers_[task.after[k]].push_back(t);
  }
  for (NetworkRing& ring : rings_) {
    if (ring.adopt(memory)) continue;
    for (NetworkRing& other : rings_) other.release(memory);
    throw Failure(std::string(program.source) + ": no memory for the rings of the network of '" + program.name + "'");
  }
  for (const auto& task : tasks_) {
    if (trace_ == nullptr) break;
    const rml_site& place = task->info.place;
    trace_->add_task(place.message,
                     std::string(place.file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column));
    task->idle_since = Trace::now();
  }
  announced_ = memory.pushed;
  segments_before_ = memory.segments;
  longest_before_ = memory.longest_segment;
  scheduler_ = std::make_unique<Scheduler>(network_workers(options.workers), [this] { quiet(); });
  scheduler_->enter();
  for (const auto& task : tasks_) scheduler_->wake(*task);
  scheduler_->leave();
}

void Network::stop() {
  cancel();
  scheduler_->stop();
}

Network::~Network() {
  stop();
  for (NetworkRing& ring : rings_) ring.release(header());
}

void Network::wake(NetworkTask& task, Note how) {
  how == Note::last ? scheduler_->wake_next(task) : scheduler_->wake(task);
}

void Network::wake_readers(std::uint32_t queue, Note how) {
  const rml_queue& info = network_.queues[queue];
  const auto code = static_cast<std::int32_t>(queue + 1);
  for (std::uint32_t r = 0; r < program_.memories[info.memory].count; ++r) {
    if (info.readers[r] == host) {
      if (how != Note::tasks && out_.on.load(std::memory_order_relaxed) == code) signal();
    } else if (NetworkTask& reader = *tasks_[info.readers[r]];
               reader.waits.on.load(std::memory_order_relaxed) == code) {
      wake(reader, how);
    }
  }
}

// Wakes the writer of a ring only if half of it is free. Otherwise writer and reader would
// alternate after every element.
void Network::wake_writer(std::uint32_t queue, Note how) {
  const auto waits = [&](const Waiting& w) {
    return is_room(w.on.load(std::memory_order_relaxed)) && w.room.load(std::memory_order_relaxed) == queue &&
           rings_[queue].waiting() <= static_cast<std::int64_t>(rings_[queue].limit() / 2);
  };
  const std::uint32_t writer = network_.queues[queue].writer;
  if (writer == host) {
    if (waits(in_)) signal();
  } else if (NetworkTask& task = *tasks_[writer]; waits(task.waits)) {
    wake(task, how);
  }
}

void Network::signal() {
  if ((changes_.fetch_add(2) & 1) == 0) return;
  changes_.fetch_and(~1u);
  futex_wake(&changes_, INT_MAX);
}

bool Network::may_run(std::int64_t stamp, std::uint32_t task) const {
  const std::int64_t limit = limit_.load(std::memory_order_relaxed);
  return limit == no_limit || ((stamp << RML_KEY_BITS) | (task + 1)) < limit;
}

void Network::fail(std::uint32_t task, std::int64_t stamp) {
  const std::lock_guard lock(mutex_);
  limit_.store(std::min(limit_.load(), (stamp << RML_KEY_BITS) | (task + 1)));
  failures_.push_back(task);
  signal();
}

// ---- when nothing runs -----------------------------------------------------------------------

// For a full ring: true if its slowest reader waits for anything but room.
bool Network::stuck_behind(std::uint32_t queue) const {
  const std::uint32_t reader = network_.queues[queue].readers[rings_[queue].slowest_reader()];
  if (reader == host) return host_waits();
  return !is_room(tasks_[reader]->waits.on.load());
}

// True if the host still waits: it may have been notified without having checked yet. It may read
// a ring as several readers, which advance independently: one may wait for the next element while
// another one has not read the last.
bool Network::host_waits() const {
  const std::int32_t code = out_.on.load();
  if (code <= 0 || code == RML_WAITS_CYCLE) return code != 0;
  const rml_queue& queue = network_.queues[code - 1];
  for (std::uint32_t r = 0; r < program_.memories[queue.memory].count; ++r)
    if (queue.readers[r] == host && rings_[static_cast<std::size_t>(code) - 1].is_empty_for(r)) return true;
  return false;
}

// Finds the rings whose limits are to be raised, and the tasks that wait for room although there
// is room. Returns false if no task waits for room.
bool Network::find_limits(Limits& found) const {
  auto& [full, raised, roomy] = found;
  for (auto* rings : {&full, &raised}) rings->clear();
  roomy.clear();
  bool waits = false;
  const auto look = [&](const Waiting& w, NetworkTask* task) {
    const std::int32_t code = w.on.load();
    if (!is_room(code)) return;
    waits = true;
    const NetworkRing& ring = rings_[w.room.load()];
    if (ring.waiting() >= static_cast<std::int64_t>(ring.limit()) || code == waits_end_room)
      full.push_back(w.room.load());
    else
      roomy.push_back(task);  // the task that waits for room; null stands for the host
  };
  for (const auto& task : tasks_) look(task->waits, task.get());
  look(in_, nullptr);
  if (!roomy.empty() || full.empty()) return waits;
  for (const std::uint32_t q : full)
    if (stuck_behind(q)) raised.push_back(q);
  if (raised.empty()) {
    // Either the host has rows to take, or all rings of a circle are full, and the smallest one
    // is raised.
    const bool waits_for_host = std::ranges::any_of(
        full, [&](std::uint32_t q) { return network_.queues[q].readers[rings_[q].slowest_reader()] == host; });
    if (waits_for_host) return true;
    raised.push_back(*std::ranges::min_element(full, {}, [&](std::uint32_t q) { return rings_[q].limit(); }));
  }
  return true;
}

// If a task starts during the inspection, its results are discarded; the last task to end
// inspects again.
void Network::quiet() {
  Limits found;
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t cycles = pushed().load();
    const std::uint32_t entered = scheduler_->entered();
    if (!scheduler_->quiet() || cancelled_.load()) return;
    found = std::exchange(found_before_, {});
    const bool unfinished = find_limits(found);
    if (scheduler_->entered() != entered) {
      found_before_ = std::move(found);
      return;
    }
    for (const std::uint32_t q : found.raised) rings_[q].raise_limit();
    const bool gate = unfinished && out_.on.load() == waits_frontier;
    changed = (!unfinished && settled_.exchange(cycles) != cycles) || gate_.exchange(gate) != gate;
  }
  for (NetworkTask* task : found.roomy) {
    if (task != nullptr) scheduler_->wake(*task);
    changed = changed || task == nullptr;
  }
  for (const std::uint32_t q : found.raised) wake_writer(q, Note::all);
  if (changed || !found.raised.empty()) signal();
  const std::lock_guard lock(mutex_);
  found_before_ = std::move(found);
}

// ---- the host --------------------------------------------------------------------------------

// If it returns false, a note says why.
bool Network::may_push() {
  return is_ready(in_, [&]() -> Missing {
    if (gate_.load()) return {waits_gate};
    for (std::uint32_t k = 0; k < network_.n_inputs; ++k)
      if (!rings_[network_.inputs[k]].has_room(1)) return {waits_room, network_.inputs[k]};
    return {};
  });
}

Network::Taken Network::try_push(const void* const* in, const std::uint8_t* present) {
  if (failed() || cancelled_.load()) {
    in_.on.store(0);  // the host no longer waits for room
    return Taken::failed;
  }
  if (!may_push()) return Taken::full;
  const Taken taken = push_cycle(in, present);
  announce();
  return taken;
}

Network::Taken Network::push_cycle(const void* const* in, const std::uint8_t* present) {
  rml_header& memory = header();
  for (std::uint32_t k = 0; k < network_.n_inputs; ++k) {
    if (rings_[network_.inputs[k]].make_room(1, memory)) continue;
    announce();
    throw Failure(std::string(program_.source) + ": no memory for the inputs of '" + program_.name + "'");
  }
  // the network is not quiet until all tasks are notified of the cycle
  if (announced_ == memory.pushed) scheduler_->enter();
  program_.push(state_, in, present);
  return Taken::yes;
}

void Network::announce() {
  if (announced_ == header().pushed) return;
  announced_ = header().pushed;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t k = 0; k < network_.n_inputs; ++k) wake_readers(network_.inputs[k], Note::all);
  for (const std::uint32_t t : paced_)
    if (tasks_[t]->waits.on.load(std::memory_order_relaxed) == RML_WAITS_CYCLE) scheduler_->wake(*tasks_[t]);
  if (out_.on.load(std::memory_order_relaxed) == RML_WAITS_CYCLE) signal();
  scheduler_->leave();
}

bool Network::push(const void* const* in, const std::uint8_t* present) {
  for (;;) {
    const std::uint32_t seen = changes();
    if (failed() || cancelled_.load()) {
      announce();
      in_.on.store(0);  // the host no longer waits for room
      return false;
    }
    if (may_push()) break;
    announce();
    wait(seen);
  }
  push_cycle(in, present);
  const std::int64_t time = now();
  if (announced_ + 1 == header().pushed) first_unannounced_ = time;
  if (time - first_unannounced_ > announce_after) announce();
  return true;
}

void Network::close() {
  announce();
  closed_.store(true);
  if (scheduler_->quiet()) quiet();
  signal();
}

// No later instant of a task that can fail has a smaller stamp.
std::int64_t Network::frontier() const {
  std::int64_t least = INT64_MAX;
  for (const std::uint32_t t : fallible_) {
    const NetworkTask& task = *tasks_[t];
    least = std::min(least, std::max(task.stamp.load(std::memory_order_acquire),
                                     task.info.base != 0 ? task.instants() : std::int64_t{0}));
  }
  return std::max(least, settled_.load());
}

bool Network::may_go_out(std::int64_t key, std::int64_t row) {
  const std::int64_t stamp = stamp_of(key);
  const auto before_limit = [&] {
    const std::int64_t limit = limit_.load();
    return limit == no_limit || (key <= limit && row < stamp_of(limit));
  };
  if (stamp < frontier_) return before_limit();
  frontier_ = frontier();
  return stamp < frontier_ && before_limit();
}

Network::Row Network::try_pop(void* const* out, std::uint8_t* present) {
  bool over = false;
  const bool there = is_ready(out_, [&]() -> Missing {
    over = (closed_.load() || failed()) && settled();
    std::int64_t key = 0;
    if (const std::int32_t code = network_.ready(state_, &key); code != 0) return {code};
    return {may_go_out(key, header().popped) ? 0 : waits_frontier};
  });
  if (!there) return over ? Row::ended : Row::none;
  program_.pop(state_, out, present);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t k = 0; k < network_.n_outputs; ++k) wake_writer(network_.outputs[k], Note::all);
  return Row::there;
}

bool Network::pop(void* const* out, std::uint8_t* present) {
  for (;;) {
    const std::uint32_t seen = changes();
    const Row row = try_pop(out, present);
    if (row != Row::none) return row == Row::there;
    if (cancelled_.load()) return false;
    wait(seen);
  }
}

// The note of the host may be the last reason for the network to be quiet, and no other thread
// would inspect it then.
void Network::wait(std::uint32_t seen) {
  if (scheduler_->quiet()) quiet();
  for (std::uint32_t now = changes_.load(); (now & ~1u) == seen;) {
    if ((now & 1) == 0 && !changes_.compare_exchange_strong(now, now | 1)) continue;
    futex_wait(changes_, seen | 1);
    now = changes_.load();
  }
}

void Network::cancel() {
  cancelled_.store(true);
  signal();
}

std::uint64_t Network::bytes() const {
  std::uint64_t sum = 0;
  for (const NetworkRing& ring : rings_) sum += ring.bytes();
  return sum;
}

std::vector<std::uint32_t> Network::failures() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> all = failures_;
  std::ranges::sort(all, {}, [&](std::uint32_t t) { return std::pair(tasks_[t]->last_stamp, t); });
  return all;
}

void Network::report() {
  rml_header& all = header();
  all.segments = segments_before_;
  all.longest_segment = longest_before_;
  for (std::uint32_t t = 0; t < network_.n_tasks; ++t) {
    const rml_header& own = at<rml_header>(state_, network_.tasks[t].header);
    all.segments += own.segments;
    all.longest_segment = std::max(all.longest_segment, own.longest_segment);
  }
  const std::vector<std::uint32_t> failed = failures();
  if (failed.empty()) return;
  const rml_header& first = at<rml_header>(state_, network_.tasks[failed[0]].header);
  pushed().store(stamp_of(limit_.load()));  // an atomic store, because a worker may still inspect the network
  all.fault = first.fault;
  all.site = first.site;
  all.fault_cycle = first.fault_cycle;
  all.value = first.value;
  all.bound = first.bound;
}

}  // namespace rml::rt
