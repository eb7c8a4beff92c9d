// Runs ranks as threads in random schedules: messages are held back, ranks are slow, some vanish
// or lose messages.
//
//   ranks_schedules FROM COUNT
//
// A case without a loss must give the bits of one rank. In a case with a loss every remaining
// rank must end within the patience, with a LostRank that names a rank, or with the right bits if
// the loss concerned no rank. A clock finds a rank that waits forever; the program then prints
// the case and exits.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include "runtime/ranks/in_process.h"
#include "tests/ranks/scenario.h"

namespace rml::rt::test {
namespace {

using Clock = std::chrono::steady_clock;
using Draw = std::mt19937_64;
constexpr std::chrono::milliseconds patience(300);
constexpr std::chrono::seconds hopeless(30);

std::atomic<std::uint64_t> current{0};
std::atomic<Clock::rep> began{0};

enum class Loss { none, vanishes, message };

struct Case {
  explicit Case(std::uint64_t number) : scenario(number), draw(number + 1) {
    ranks = static_cast<std::uint32_t>(1 + draw() % 9);
    loss = ranks == 1 || draw() % 8 != 0 ? Loss::none : draw() % 4 != 0 ? Loss::vanishes : Loss::message;
    unlucky = static_cast<std::uint32_t>(draw() % ranks);
    after = draw() % 6;
    hurry = draw() % 3;
  }
  Scenario scenario;
  Draw draw;
  std::uint32_t ranks, unlucky;
  Loss loss;
  std::uint64_t after;  // number of calls, or of messages, before the loss
  std::uint64_t hurry;  // amount of delay of the ranks; 0: no rank is delayed
};

struct Vanished {};

struct Result {
  Totals totals;
  std::string problem;
  bool vanished = false;
};

void stay(Draw& draw, std::uint64_t hurry) {
  if (hurry == 0) return;
  const std::uint64_t chosen = draw() % 16;
  if (chosen == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw() % 400));
  if (chosen < 6) std::this_thread::yield();
}

Result run_rank(const Case& c, std::shared_ptr<Meeting> meeting, std::uint32_t rank) {
  Draw draw(c.scenario.number * 16 + rank);
  InProcess transport(meeting, rank);
  transport.set_patience(c.loss == Loss::none ? std::chrono::milliseconds(hopeless) : patience);
  std::uint64_t sent = 0, calls = 0;
  transport.on_send = [&](std::uint32_t, Tag) {
    stay(draw, c.hurry);
    return c.loss != Loss::message || rank != c.unlucky || sent++ != c.after;
  };
  Ranks ranks(transport);
  Result result;
  try {
    result.totals = run_scenario(c.scenario, ranks, [&] {
      stay(draw, c.hurry);
      if (c.loss == Loss::vanishes && rank == c.unlucky && calls++ == c.after) throw Vanished{};
    });
    transport.leave("");
  } catch (const LostRank& lost) {
    result.problem = lost.what();
    transport.leave(result.problem);
  } catch (const Vanished&) {
    result.vanished = true;
    meeting->vanish(rank);
  }
  return result;
}

std::vector<Result> run_all(const Case& c, std::uint32_t count) {
  const auto meeting = std::make_shared<Meeting>(count);
  std::vector<Result> results(count);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] { results[rank] = run_rank(c, meeting, rank); });
  for (std::thread& thread : threads) thread.join();
  return results;
}

// Returns the error of the case, or an empty text.
std::string judge(const Case& c, const std::vector<Result>& results, const Totals& wanted) {
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
    const Result& result = results[rank];
    if (result.vanished) continue;
    if (!result.problem.empty()) {
      if (c.loss == Loss::none) return rank_text(rank) + ": " + result.problem;
      if (result.problem.find("rank ") == std::string::npos) return rank_text(rank) + " names none: " + result.problem;
      continue;
    }
    // A rank without a micro-batch in the last step lacks the totals of that step.
    const std::size_t sites = c.scenario.sites.size();
    const bool in_all = rank < c.scenario.per_step, in_last = rank < c.scenario.in_last_step;
    const std::size_t totals = !in_all && !in_last ? 0 : wanted.bytes.size() - (in_last ? 0 : sites);
    if (result.totals.bytes.size() != totals) return rank_text(rank) + " has another number of totals";
    for (std::size_t i = 0; i < totals; ++i)
      if (result.totals.bytes[i] != wanted.bytes[i]) return rank_text(rank) + " has other bits";
  }
  return "";
}

void watch() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const Clock::time_point start{Clock::duration(began.load())};
    if (Clock::now() - start < 2 * hopeless) continue;
    std::printf("case %llu does not end\ncases=0 wrong=1\n", static_cast<unsigned long long>(current.load()));
    std::fflush(stdout);
    std::_Exit(1);
  }
}

int run(std::uint64_t from, std::uint64_t count) {
  began = Clock::now().time_since_epoch().count();
  std::thread(watch).detach();
  std::uint64_t wrong = 0, lossy = 0;
  for (std::uint64_t number = from; number < from + count; ++number) {
    current = number;
    began = Clock::now().time_since_epoch().count();
    const Case c(number);
    Case alone(number);
    alone.loss = Loss::none;
    alone.hurry = 0;
    const std::vector<Result> one = run_all(alone, 1);
    const std::string problem = judge(c, run_all(c, c.ranks), one[0].totals);
    lossy += c.loss != Loss::none ? 1 : 0;
    if (problem.empty()) continue;
    ++wrong;
    std::printf("case %llu: %s\n", static_cast<unsigned long long>(number), problem.c_str());
  }
  std::printf("cases=%llu lossy=%llu wrong=%llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(lossy), static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rml::rt::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: ranks_schedules FROM COUNT\n", stderr);
    return 2;
  }
  return rml::rt::test::run(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
}
