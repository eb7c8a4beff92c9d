// Runs random sums over ranks on any transport, and prints the totals, which
// tests/ranks/oracle.py checks.
//
//   sums_threads RANKS FROM COUNT              ranks are threads
//   mpirun -n RANKS sums_openmpi FROM COUNT    ranks are processes
//
// Every rank must have the totals of rank 0 to the bit, and the numbers of messages and bytes
// must be those of the formula. Otherwise it prints the difference and exits with 1.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/ranks/in_process.h"
#include "runtime/ranks/mpi/library.h"
#include "tests/ranks/scenario.h"

namespace rml::rt::test {
namespace {

std::mutex printing;

void differs(const Scenario& scenario, std::uint32_t rank, const std::string& what) {
  throw Failure("case " + std::to_string(scenario.number) + ": " + rank_text(rank) + " " + what);
}

// Compares the totals of all ranks, and the amounts sent, with those of rank 0, by calls like
// those of programs.
void compare(const Scenario& scenario, Ranks& ranks, const Totals& totals, std::uint64_t messages, std::uint64_t sent) {
  Transport& transport = ranks.transport();
  ranks.set_position({0, 0, transport.ranks()});
  std::string first;
  for (const std::string& total : totals.bytes) first += total;
  const std::string own = first;
  std::uint64_t size = first.size();
  rml_broadcast(ranks.handle(), 90, RML_U64, 1, &size, 0);
  first.resize(size);
  rml_broadcast(ranks.handle(), 91, RML_U8, size, first.data(), 0);
  ranks.rethrow();
  // A rank without a micro-batch in some step has no total of that step.
  if (transport.rank() < scenario.in_last_step && transport.rank() < scenario.per_step && own != first)
    differs(scenario, transport.rank(), "has other totals than rank 0");
  std::uint64_t counts[2] = {0, 0};
  for (std::uint32_t rank = 0; rank < transport.ranks(); ++rank) {
    std::uint64_t its[2] = {messages, sent};
    rml_broadcast(ranks.handle(), 92, RML_U64, 2, its, rank);
    counts[0] += its[0];
    counts[1] += its[1];
  }
  ranks.rethrow();
  if (counts[0] != totals.messages || counts[1] != totals.sent)
    differs(scenario, transport.rank(),
            "counts " + std::to_string(counts[0]) + " messages and " + std::to_string(counts[1]) +
                " bytes, the formula says " + std::to_string(totals.messages) + " and " + std::to_string(totals.sent));
}

void run_case(std::uint64_t number, Transport& transport) {
  const Scenario scenario(number);
  Ranks ranks(transport);
  std::minstd_rand draw(static_cast<unsigned>(number * 64 + transport.rank()));
  const std::uint64_t messages = transport.messages(), bytes = transport.bytes();
  const Totals totals = run_scenario(scenario, ranks, [&] {
    if (draw() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw() % 300));
  });
  compare(scenario, ranks, totals, transport.messages() - messages, transport.bytes() - bytes);
  if (transport.rank() != 0) return;
  const std::lock_guard lock(printing);
  std::printf("case %llu\n", static_cast<unsigned long long>(number));
  for (const std::string& total : totals.bytes) std::printf("=%s\n", hexadecimal(total).c_str());
}

int run_cases(Transport& transport, std::uint64_t from, std::uint64_t count) {
  std::string reason;
  try {
    for (std::uint64_t k = 0; k < count; ++k) run_case(from + k, transport);
  } catch (const Failure& failure) {
    reason = failure.what();
  }
  const std::string of_others = transport.leave(reason);
  if (!reason.empty() || !of_others.empty()) std::fprintf(stderr, "%s\n", (reason + of_others).c_str());
  return reason.empty() && of_others.empty() ? 0 : 1;
}

int run_threads(std::uint32_t ranks, std::uint64_t from, std::uint64_t count) {
  const auto meeting = std::make_shared<Meeting>(ranks);
  std::vector<int> results(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      InProcess transport(meeting, rank);
      results[rank] = run_cases(transport, from, count);
    });
  for (std::thread& thread : threads) thread.join();
  for (const int result : results)
    if (result != 0) return result;
  return 0;
}

}  // namespace
}  // namespace rml::rt::test

int main(int argc, char** argv) {
  const auto number = [&](int k) { return std::strtoull(argv[k], nullptr, 10); };
  if (&rml_mpi_library != nullptr && argc == 3)
    return rml::rt::test::run_cases(*rml_mpi_library.start(), number(1), number(2));
  if (argc == 4) return rml::rt::test::run_threads(static_cast<std::uint32_t>(number(1)), number(2), number(3));
  std::fputs("usage: sums RANKS FROM COUNT, or under mpirun: FROM COUNT\n", stderr);
  return 2;
}
