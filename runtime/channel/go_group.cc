// Counts of living and waiting threads in one word decide whether all threads wait.
#include "runtime/channel/go_group.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace rml {

using channels::Node;
using channels::Sleeper;
using channels::ThreadWatch;

class GoGroup::Member : public ThreadWatch {
 public:
  Member(GoGroup& group, std::string name) : group_(group), name_(std::move(name)) {}

  void blocks(Sleeper& sleeper, std::span<const Node> nodes, const std::stop_token& stop) override {
    {
      const std::lock_guard guard(mutex_);
      sleeper_ = &sleeper, nodes_ = nodes, stop_ = &stop;
    }
    group_.counts_.fetch_add(one_waiting);
  }
  void check() override { group_.check(); }
  void runs() override { group_.counts_.fetch_sub(one_waiting); }
  void returns() override {
    const std::lock_guard guard(mutex_);
    sleeper_ = nullptr;
  }
  std::string report() override {
    const std::lock_guard guard(mutex_);
    return report_;
  }

  // True if the thread waits but will soon notice that it must stop.
  bool is_stopping() {
    const std::lock_guard guard(mutex_);
    return sleeper_ != nullptr && stop_->stop_requested();
  }

  // Describes the channels for which the thread waits; empty if it does not wait. The channels exist as
  // long as its call cannot return.
  std::string described() {
    const std::lock_guard guard(mutex_);
    if (sleeper_ == nullptr) return {};
    std::string text = "\n  thread \"" + name_ + "\" waits ";
    if (nodes_.empty()) return text + "for nothing: a nil channel, or a select without cases";
    if (nodes_.size() > 1) text += "in a select ";
    bool first = true;
    for (const Node& node : nodes_) {
      if (!first) text += " or ";
      first = false;
      text += (node.sends ? "to send to " : "to receive from ") + node.core->described();
    }
    return text;
  }

  void wake(const std::string& report, channels::Wakes& wakes) {
    const std::lock_guard guard(mutex_);
    if (sleeper_ == nullptr) return;
    report_ = report;
    if (sleeper_->reserve()) sleeper_->finish(0, Outcome::deadlock, wakes);
  }

  const std::string& name() const { return name_; }
  std::thread thread;

 private:
  GoGroup& group_;
  const std::string name_;
  std::mutex mutex_;  // protects the members below
  Sleeper* sleeper_ = nullptr;
  std::span<const Node> nodes_;
  const std::stop_token* stop_ = nullptr;
  std::string report_;
};

bool GoGroup::detects_by_default() {
  static const bool detects = [] {
    const char* const value = std::getenv("RML_DETECT_DEADLOCKS");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  return detects;
}

GoGroup::GoGroup(std::unique_ptr<Executor> executor, bool detect_deadlocks)
    : detects_(detect_deadlocks), executor_(std::move(executor)) {
  members_.push_back(std::make_unique<Member>(*this, "main"));
  if (!detects_) return;
  before_ = std::exchange(ThreadWatch::of_this_thread(), members_.front().get());
}

GoGroup::~GoGroup() {
  wait_for_all();
  if (detects_) ThreadWatch::of_this_thread() = before_;
}

void GoGroup::start(std::string name, std::function<void()> work) {
  const std::lock_guard guard(mutex_);
  if (name.empty()) name = std::to_string(members_.size());
  members_.push_back(std::make_unique<Member>(*this, std::move(name)));
  Member& member = *members_.back();
  counts_.fetch_add(one_alive);
  try {
    auto all = [this, &member, work = std::move(work)]() mutable {
      run(member, work);
      work = nullptr;
      counts_.fetch_sub(one_alive);
      check();
    };
    if (executor_)
      executor_->start(std::move(all));
    else
      member.thread = std::thread(std::move(all));
  } catch (...) {
    counts_.fetch_sub(one_alive);
    members_.pop_back();
    throw;
  }
}

void GoGroup::run(Member& member, const std::function<void()>& work) {
  if (detects_) ThreadWatch::of_this_thread() = &member;
  try {
    work();
  } catch (...) {
    {
      const std::lock_guard guard(mutex_);
      failures_.push_back({member.name(), std::current_exception()});
    }
    stop_.request_stop();
  }
}

// A thread that waits here neither sends nor receives.
void GoGroup::wait_for_all() {
  counts_.fetch_sub(one_alive);
  check();
  if (executor_) executor_->wait();
  while (!executor_) {
    std::thread thread;
    {
      const std::lock_guard guard(mutex_);
      if (joined_ == members_.size()) break;
      thread = std::move(members_[joined_++]->thread);
    }
    thread.join();
  }
  counts_.fetch_add(one_alive);
}

void GoGroup::join() {
  wait_for_all();
  std::exception_ptr first;
  {
    const std::lock_guard guard(mutex_);
    if (!failures_.empty()) first = failures_.front().error;
  }
  if (first) std::rethrow_exception(first);
}

std::vector<GoGroup::Failure> GoGroup::failures() const {
  const std::lock_guard guard(mutex_);
  return failures_;
}

std::string GoGroup::report() const {
  std::string text;
  for (const Failure& failure : failures()) {
    text += failure.thread + ": ";
    try {
      std::rethrow_exception(failure.error);
    } catch (const std::exception& error) {
      text += error.what();
    } catch (...) {
      text += "an exception of another kind";
    }
    text += '\n';
  }
  return text;
}

bool GoGroup::all_wait() const {
  const std::uint64_t counts = counts_.load();
  return counts >> 32 == (counts & (one_alive - 1)) && counts != 0;
}

// Called by the last thread to wait or to end. A thread that is woken counts as running from that
// moment, so it is certain that no thread runs.
void GoGroup::check() {
  if (!detects_ || !all_wait()) return;
  channels::Wakes wakes;
  const std::lock_guard guard(mutex_);
  if (!all_wait() || std::ranges::any_of(members_, [](const auto& member) { return member->is_stopping(); })) return;
  std::string text = "all threads wait for each other:";
  for (const auto& member : members_) text += member->described();
  for (const auto& member : members_) member->wake(text, wakes);
}

}  // namespace rml
