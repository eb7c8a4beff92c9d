// A waiting rank checks all others, not only the one that it waits for. That one may itself be
// waiting for a dead rank, and the message should name the dead rank.
#include "runtime/ranks/transport.h"

#include <utility>

#include "runtime/base/signals.h"

namespace rml::rt {
namespace {

using Clock = std::chrono::steady_clock;

// After a signal, the other ranks normally receive it as well and end at the end of their cycle;
// this is the time to wait for them.
constexpr std::chrono::seconds patience_after_signal(5);
// If something is wrong, the time for the others to notice it.
constexpr std::chrono::seconds farewell(5);

// The problem of another rank; empty if there is none.
std::string problem_of(std::uint32_t other, const auto& standing) {
  if (standing.how == standing.gone) return rank_text(other) + " is gone: " + standing.reason;
  if (standing.how == standing.failed) return rank_text(other) + " has stopped: " + standing.reason;
  return "";
}

}  // namespace

std::string rank_text(std::uint32_t rank) { return "rank " + std::to_string(rank); }

void Transport::send(std::uint32_t to, Tag tag, Message message) {
  ++messages_;
  bytes_ += message.size();
  do_send(to, tag, std::move(message));
}

std::optional<Message> Transport::try_receive(std::uint32_t from, Tag tag) { return do_receive(from, tag); }

std::string Transport::impatience(std::uint32_t other, const std::string& what) const {
  return rank_text(other) + " has not " + what + " in " + std::to_string(patience_.count() / 1000) +
         " seconds: it is slow, stopped or disconnected; --rank-patience sets how long a rank waits";
}

std::string Transport::problem_of_others(std::uint32_t from, const char* what) {
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other == rank_) continue;
    const Standing now = standing(other);
    const std::string problem = problem_of(other, now);
    if (!problem.empty()) return problem;
    if (now.how == Standing::ended && other == from)
      return rank_text(other) + " has ended because its input ended, but " + rank_text(rank_) + " needs " + what +
             " from it: the inputs of the ranks differ";
  }
  return "";
}

// A rank sends its last message before it leaves. Once it is known to have left, the message has
// arrived, so it is looked for again.
Message Transport::receive(std::uint32_t from, Tag tag, const char* what) {
  const Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> signalled;
  for (unsigned round = 0;; ++round) {
    if (auto message = do_receive(from, tag)) return std::move(*message);
    if (const std::string problem = problem_of_others(from, what); !problem.empty()) {
      if (auto message = do_receive(from, tag)) return std::move(*message);
      throw LostRank(problem);
    }
    const Clock::time_point now = Clock::now();
    if (interrupt_signal() != 0 && !signalled) signalled = now;
    if (signalled && now - *signalled > patience_after_signal) throw Interrupted{};
    if (patience_.count() > 0 && now - start > patience_) throw LostRank(impatience(from, std::string("sent ") + what));
    pause(round);
  }
}

std::string Transport::leave(const std::string& reason, bool in_step) {
  do_leave(reason);
  const Clock::time_point start = Clock::now();
  std::string problem;
  for (unsigned round = 0;; ++round) {
    std::optional<std::uint32_t> there;
    for (std::uint32_t other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      const Standing now = standing(other);
      if (now.how == Standing::there) there = other;
      if (problem.empty()) problem = problem_of(other, now);
    }
    const bool hurried = !reason.empty() || !problem.empty() || interrupt_signal() != 0;
    const auto waited = Clock::now() - start;
    if (!there || (hurried && waited > farewell)) return problem;
    if (in_step && patience_.count() > 0 && waited > patience_) return impatience(*there, "ended");
    pause(round);
  }
}

}  // namespace rml::rt
