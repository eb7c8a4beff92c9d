// See run.h. Order matters: the inputs are opened (and their headers checked) before the
// outputs are created, so that a wrong input does not truncate an old output. At the end of the
// input or after a signal, finish settles what no later cycle can change; after a fault or a
// bad row nothing is settled, only what was complete is written.
#include "runtime/run.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "runtime/failure.h"
#include "runtime/faults.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/signals.h"
#include "runtime/stream_io/endpoints.h"

namespace rml::rt {
namespace {

using Clock = std::chrono::steady_clock;

// The program's state: allocated, initialised and in the end destroyed.
class State {
 public:
  State(const rml_program& program, const Options& options) : program_(program), memory_(default_memory_ceiling()) {
    const std::uint64_t align = std::max<std::uint64_t>(program.state_align, 64);
    const std::uint64_t bytes =
        (std::max<std::uint64_t>(program.state_bytes, sizeof(rml_header)) + align - 1) / align * align;
    block_ = bytes <= memory_.ceiling() ? std::aligned_alloc(align, bytes) : nullptr;
    if (!block_) {
      throw Failure(std::string(program.source) + ": the state of '" + program.name + "' needs " +
                    std::to_string(bytes) + " bytes, more than the " + std::to_string(memory_.ceiling()) +
                    " that this run may use");
    }
    std::memset(block_, 0, bytes);
    header().seed = options.seed;
    header().horizon = options.horizon;
    header().grow = Memory::grow;
    header().context = &memory_;
    header().waiting = -1;
    program.init(block_);
  }
  ~State() {
    program_.destroy(block_);
    std::free(block_);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void* block() const { return block_; }
  rml_header& header() const { return *static_cast<rml_header*>(block_); }
  const Memory& memory() const { return memory_; }

 private:
  const rml_program& program_;
  Memory memory_;
  void* block_ = nullptr;
};

class Run {
 public:
  Run(const rml_program& program, const Options& options)
      : program_(program),
        options_(options),
        in_(program.inputs, program.n_inputs),
        out_(program.outputs, program.n_outputs),
        progress_(options, out_) {
    const auto inputs = plan_endpoints(Direction::in, options.inputs, options.format, in_);
    const auto outputs = plan_endpoints(Direction::out, options.outputs, options.format, out_);
    if (inputs.empty() && !options.cycles) {
      throw Failure(std::string("node '") + program.name + "' has no inputs that could end the run: give --cycles N",
                    exit_usage);
    }
    refuse_overlap(inputs, outputs);
    source_ = open_sources(inputs, in_, [this] { flush(); });
    for (const Endpoint& output : outputs) sinks_.push_back(open_sink(output, out_));
  }

  int execute();

 private:
  // False at the end of the input, at --cycles and after a signal.
  bool cycle();
  void drain();
  void finish();
  void flush() {
    for (const auto& sink : sinks_) sink->flush();
  }
  void close();
  // Everything complete, in spite of an error; returns what else went wrong.
  std::string salvage();
  double fraction() const;
  void print_stats(double seconds) const;

  const rml_program& program_;
  const Options& options_;
  Row in_;
  Row out_;
  Progress progress_;
  std::unique_ptr<RowSource> source_;
  std::vector<std::unique_ptr<RowSink>> sinks_;
  std::optional<State> state_;
  std::int64_t undetermined_ = 0;
  std::int64_t peak_buffer_bytes_ = 0;
};

int Run::execute() {
  const Clock::time_point start = Clock::now();
  try {
    state_.emplace(program_, options_);
    if (state_->header().fault != RML_OK) throw Failure(fault_text(program_, state_->header(), nullptr));
    try {
      while (cycle()) progress_.tick(state_->header().pushed, fraction());
    } catch (const Interrupted&) {
      // The row that was being waited for does not exist: the run ends as after a whole cycle.
    }
    finish();
    close();
  } catch (const Failure& failure) {
    const std::string also = salvage();
    if (options_.stats && state_) print_stats(std::chrono::duration<double>(Clock::now() - start).count());
    throw Failure(failure.what() + (also.empty() ? "" : "\n" + also), failure.status());
  }
  const rml_header& header = state_->header();
  progress_.finish(header.pushed);
  if (options_.stats) print_stats(std::chrono::duration<double>(Clock::now() - start).count());
  const int signal = interrupt_signal();
  if (signal != 0 && !options_.quiet) {
    std::fprintf(stderr, "interrupted after %" PRId64 " cycles\n", header.pushed);
  }
  if (undetermined_ > 0 && !options_.quiet) {
    std::fprintf(stderr, "%s\n", undetermined_text(program_, header).c_str());
  }
  return signal == 0 ? static_cast<int>(exit_ok) : 128 + signal;
}

bool Run::cycle() {
  rml_header& header = state_->header();
  if (options_.cycles && header.pushed >= *options_.cycles) return false;
  if (interrupt_signal() != 0) return false;
  if (source_ && !source_->read()) return false;
  const std::int32_t fault = program_.push(state_->block(), in_.const_pointers(), in_.present());
  if (fault != RML_OK) throw Failure(fault_text(program_, header, source_.get()));
  peak_buffer_bytes_ = std::max(peak_buffer_bytes_, header.buffer_bytes);
  drain();
  return true;
}

void Run::drain() {
  while (program_.pop(state_->block(), out_.pointers(), out_.present()) == 1) {
    for (std::uint32_t i = 0; i < program_.n_outputs; ++i) {
      if (program_.outputs[i].always) out_.set_present(i, true);
    }
    for (const auto& sink : sinks_) sink->write();
  }
}

void Run::finish() {
  const std::int32_t fault = program_.finish(state_->block());
  if (fault != RML_OK) throw Failure(fault_text(program_, state_->header(), source_.get()));
  drain();
  undetermined_ = state_->header().pushed - state_->header().popped;
  if (undetermined_ <= 0) return;
  for (const auto& sink : sinks_) sink->undetermined(undetermined_);
}

void Run::close() {
  for (const auto& sink : sinks_) sink->close();
}

std::string Run::salvage() {
  std::string problems;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const Failure& failure) {
      problems += (problems.empty() ? "" : "\n") + std::string(failure.what());
    }
  };
  if (state_) attempt([&] { drain(); });
  for (const auto& sink : sinks_) attempt([&] { sink->close(); });
  if (state_) progress_.finish(state_->header().pushed);
  return problems;
}

double Run::fraction() const {
  if (!progress_.enabled()) return -1;
  const double of_input = source_ ? source_->fraction() : -1;
  if (!options_.cycles || *options_.cycles == 0) return of_input;
  const double of_cycles = static_cast<double>(state_->header().pushed) / static_cast<double>(*options_.cycles);
  return std::max(of_input, of_cycles);
}

void Run::print_stats(double seconds) const {
  const rml_header& header = state_->header();
  std::fprintf(stderr,
               "cycles           %" PRId64
               "\n"
               "rows             %" PRId64
               "\n"
               "time             %.3f s\n"
               "speed            %.0f cycles/s\n"
               "peak memory      %.1f MiB\n"
               "segments         %" PRId64
               "\n"
               "longest segment  %" PRId64
               " cycles\n"
               "buffers          %" PRId64 " bytes at most\n",
               header.pushed, header.popped, seconds, seconds > 0 ? static_cast<double>(header.pushed) / seconds : 0.0,
               static_cast<double>(peak_resident_bytes()) / (1024.0 * 1024.0), header.segments, header.longest_segment,
               std::max(peak_buffer_bytes_, header.buffer_bytes));
}

}  // namespace

int run_program(const rml_program& program, const Options& options) { return Run(program, options).execute(); }

}  // namespace rml::rt
