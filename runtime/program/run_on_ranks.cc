// Each rank runs the normal cycle loop with its own transport. Options for output are removed
// from all ranks except rank 0.
#include "runtime/program/run_on_ranks.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/failure.h"
#include "runtime/base/signals.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/ranks/agreement.h"
#include "runtime/ranks/deal.h"
#include "runtime/ranks/in_process.h"
#include "runtime/ranks/mpi/library.h"
#include "runtime/ranks/ranks.h"
#include "runtime/run/run.h"
#include "runtime/stream_io/endpoints/endpoints.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// "1034 bytes, checksum 0a1b2c3d": size of the file, and checksum of its first `most` bytes. For
// a table, the beginning suffices to compare its columns.
std::string content(const std::string& path, std::size_t most) {
  const File file(std::fopen(path.c_str(), "rbe"), std::fclose);
  struct stat status{};
  if (!file || fstat(fileno(file.get()), &status) != 0) return "missing";
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  std::uint32_t sum = 0;
  std::array<unsigned char, 65536> bytes{};
  for (std::size_t read = 0; read < most;) {
    const std::size_t n = std::fread(bytes.data(), 1, std::min(bytes.size(), most - read), file.get());
    if (n == 0) break;
    sum = static_cast<std::uint32_t>(crc32_z(sum, bytes.data(), n));
    read += n;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%lld bytes, checksum %08x", static_cast<long long>(status.st_size), sum);
  return text;
}

std::vector<Endpoint> inputs_of(const rml_program& program, const Options& options) {
  return plan_endpoints(Direction::in, options.inputs, options.format, Row(program.inputs, program.n_inputs),
                        options.reading);
}

// The facts that must be equal in all ranks, on whatever machines they run.
std::vector<Fact> facts(const rml_program& program, const Options& options, const Transport& transport) {
  constexpr std::size_t beginning = std::size_t{1} << 20;
  std::vector<Fact> all{{"the number of ranks", std::to_string(transport.ranks())},
                        {"the program", "'" + std::string(program.name) + "' of " + program.source},
                        {"the number of options", std::to_string(options.arguments.size())}};
  for (std::size_t i = 0; i < options.arguments.size(); ++i)
    all.push_back({"argument " + std::to_string(i + 1), "'" + options.arguments[i] + "'"});
  for (std::uint32_t i = 0; i < program.n_inputs; ++i)
    all.push_back({std::string("the type of input '") + program.inputs[i].name + "'", type_text(program.inputs[i])});
  all.push_back({"the program's file", content("/proc/self/exe", SIZE_MAX)});
  for (const Endpoint& input : inputs_of(program, options))
    all.push_back({"the file '" + input.path + "'", content(input.path, beginning)});
  for (const std::string* path : {&options.load, &options.resume, &options.load_params})
    if (!path->empty()) all.push_back({"the file '" + *path + "'", content(*path, SIZE_MAX)});
  return all;
}

void refuse_what_one_rank_has(const rml_program& program, const Options& options) {
  if (program.network != nullptr)
    throw Failure("a program that was built with --parallel cannot run on several ranks", exit_usage);
  if (!options.kept.empty())
    throw Failure("--keep " + options.kept[0] + ": a rank cannot copy the cells of rows that another rank reads",
                  exit_usage);
  for (const Endpoint& input : inputs_of(program, options))
    if (input.path == "-" || input.peer)
      throw Failure((input.path == "-" ? std::string("standard input") : "'" + input.path + "'") +
                        " cannot be read by several ranks, each of which reads all rows: give --input FILE",
                    exit_usage);
}

Options options_of(const Options& all, Ranks& ranks) {
  Options own = all;
  own.among = &ranks;
  if (ranks.transport().rank() == 0) return own;
  own.writes = own.stats = false;
  own.quiet = true;
  own.progress = When::never;
  own.save_every = 0;
  own.save = own.log = own.profile = own.watch_file = "";
  own.plot = {};
  own.plot_also.clear();
  own.monitored.clear();
  own.watched.clear();
  return own;
}

void tell_what_is_written(const rml_program& program, const Options& options, const Transport& transport) {
  if (options.quiet || !deals_rows(program) || program.n_outputs == 0 || transport.rank() != 0) return;
  std::fprintf(stderr,
               "rank 0 of %u writes the rows of its own micro-batches; the rows of the other ranks are not written\n",
               transport.ranks());
}

// Compares the facts of the ranks, unless these are threads of one process.
void begin_together(const rml_program& program, const Options& options, Transport& transport) {
  refuse_what_one_rank_has(program, options);
  if (options.ranks == 1) agree(transport, facts(program, options, transport));
  tell_what_is_written(program, options, transport);
}

// Ends this rank. A process prints the reason before it notifies the others: the launcher ends
// all processes as soon as one has ended, and by then each must have printed its message.
template <typename Reason>
[[noreturn]] void end_by(Reason failure, const std::string& reason, Transport& transport, const Options& options) {
  if (options.ranks == 1) failure.tell();
  transport.leave(reason);
  throw failure;
}

// Notifies the other ranks whatever ends this one. An error that is not about another rank is
// reported as an error of this rank.
int run_rank(const rml_program& program, const Options& options, Transport& transport) {
  transport.set_patience(std::chrono::seconds(options.rank_patience));
  Ranks ranks(transport);
  int status = 0;
  try {
    begin_together(program, options, transport);
    status = run_program(ranks.among_ranks(program), options_of(options, ranks));
  } catch (const Interrupted&) {
    transport.leave("it was interrupted");
    throw;
  } catch (const LostRank& lost) {
    end_by(lost, lost.what(), transport, options);
  } catch (const Failure& failure) {
    const std::string reason = failure.what();
    if (ranks.lost()) end_by(LostRank(reason, failure.status()), reason, transport, options);
    end_by(Failure(rank_text(transport.rank()) + ": " + reason, failure.status()), reason, transport, options);
  } catch (const std::exception& error) {
    transport.leave(error.what());
    throw;
  }
  if (options.stats) {
    std::fprintf(stderr, "%s of %u has sent %llu messages, %llu bytes\n", rank_text(transport.rank()).c_str(),
                 transport.ranks(), static_cast<unsigned long long>(transport.messages()),
                 static_cast<unsigned long long>(transport.bytes()));
  }
  const std::string of_others = transport.leave("", ranks.has_summed());
  if (!of_others.empty()) throw LostRank(of_others);
  return status;
}

// Throws one error: that of the rank in which it occurred.
[[noreturn]] void rethrow_cause(const std::vector<std::exception_ptr>& errors) {
  std::exception_ptr first;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    if (!first) first = error;
    try {
      std::rethrow_exception(error);
    } catch (const LostRank&) {
      continue;
    } catch (...) {
      throw;
    }
  }
  std::rethrow_exception(first);
}

int run_threads(const rml_program& program, const Options& options) {
  const auto meeting = std::make_shared<Meeting>(options.ranks);
  std::vector<std::exception_ptr> errors(options.ranks);
  int status = 0;
  const auto run = [&](std::uint32_t rank) {
    InProcess transport(meeting, rank);
    try {
      const int own = run_rank(program, options, transport);
      if (rank == 0) status = own;
    } catch (...) {
      errors[rank] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (std::uint32_t rank = 1; rank < options.ranks; ++rank)
      threads.push_back(start_thread([&run, rank] { run(rank); }));
    run(0);
  } catch (const std::exception&) {
    // No further thread can be started, so the existing ranks must not wait for the missing ones.
    errors[threads.size()] = std::current_exception();
    meeting->vanish(0);
    for (std::uint32_t rank = static_cast<std::uint32_t>(threads.size()) + 1; rank < options.ranks; ++rank)
      meeting->vanish(rank);
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) rethrow_cause(errors);
  return status;
}

// Refuses to run if several processes were started together but are not connected: each would do
// all the work, on the same files.
void refuse_other_launcher(const std::string& what) {
  // Variables that Open MPI and MPICH set for the processes that they start.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1)
      throw Failure(
          std::string(size) + " ranks were started, but they cannot reach each other: this program was built " + what,
          exit_usage);
  }
}

int run_processes(const rml_program& program, const Options& options) {
  const std::unique_ptr<Transport> transport = rml_mpi_library.start();
  if (transport->ranks() > 1) return run_rank(program, options, *transport);
  refuse_other_launcher("for " + std::string(rml_mpi_library.name) + ", and mpirun is that of another MPI");
  Ranks ranks(*transport);
  return run_program(ranks.among_ranks(program), options_of(options, ranks));
}

}  // namespace

int run_on_ranks(const rml_program& program, const Options& options) {
  if (program.per_step > 0 && program.network != nullptr)
    throw Failure("a program that was built with --parallel cannot deal its rows out to ranks", exit_usage);
  if (&rml_mpi_library != nullptr) return run_processes(program, options);
  if (options.ranks > 1) return run_threads(program, options);
  if (program.per_step == 0) return run_program(program, options);
  refuse_other_launcher("without --mpi");
  Alone transport;
  Ranks ranks(transport);
  return run_program(ranks.among_ranks(program), options_of(options, ranks));
}

}  // namespace rml::rt
