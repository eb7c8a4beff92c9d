// Runs a program: rows are read ahead and written behind by other threads (pipeline/).
//
// The order of the first steps protects old outputs. Inputs are opened and their headers checked,
// then a saved state is read; only then are outputs created or cut, so that a wrong input or
// state destroys nothing. At the end of the input, `finish` reports the condition that incomplete
// rows still wait for. Complete rows are written, whatever ended the run.
#include "runtime/run/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/faults.h"
#include "runtime/base/problems.h"
#include "runtime/base/readable.h"
#include "runtime/base/signals.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/kept_tensors.h"
#include "runtime/checkpoint/load_parameters.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/epochs/input_rows.h"
#include "runtime/monitor/finite_check.h"
#include "runtime/monitor/monitors.h"
#include "runtime/monitor/profile.h"
#include "runtime/pipeline/pause.h"
#include "runtime/pipeline/read_ahead.h"
#include "runtime/pipeline/recent_places.h"
#include "runtime/pipeline/skip_rows.h"
#include "runtime/pipeline/write_behind.h"
#include "runtime/ranks/agreement.h"
#include "runtime/ranks/deal.h"
#include "runtime/ranks/ranks.h"
#include "runtime/run/files_of_run.h"
#include "runtime/run/leading_rows.h"
#include "runtime/run/measured_epochs.h"
#include "runtime/run/program_state.h"
#include "runtime/run/progress.h"
#include "runtime/run/resume.h"
#include "runtime/run/statistics.h"
#include "runtime/scheduler/network.h"
#include "runtime/stream_io/endpoints.h"

namespace rml::rt {
namespace {

using Clock = std::chrono::steady_clock;

class Run {
 public:
  Run(const rml_program& program, const Options& options)
      : program_(program),
        options_(options),
        out_(program.outputs, program.n_outputs),
        input_(program, options, options.inputs, options.training, out_),
        in_(input_.row()),
        save_to_(options.state_file()),
        kept_(options.kept),
        anchor_(program),
        progress_(options, out_),
        monitors_(program, options, out_),
        sinks_(out_, program.n_outputs - program.n_watched, pipelined()),
        leading_(program, out_, sinks_),
        places_(in_) {
    std::vector<Endpoint>& inputs = input_.endpoints();
    const Row own(program.outputs, program.n_outputs - program.n_watched);
    // With a metric, the lines of the epochs take the place of the rows on standard output.
    if (options.writes && !(options.training.measures() && options.outputs.empty()))
      outputs_ = plan_endpoints(Direction::out, options.outputs, options.format, own);
    if (options.training.measures()) epochs_.emplace(program, options, on_standard_output(outputs_));
    if (inputs.empty() && !options.cycles) {
      throw Failure(std::string("node '") + program.name + "' has no inputs that could end the run: give --cycles N",
                    exit_usage);
    }
    append_to_files(outputs_, options.append && options.writes);
    refuse_overlap(inputs, outputs_);
    keep_cells(kept_, inputs, outputs_, own);
    use_texts(input_.texts(), input_.of_files(), inputs, own, outputs_);
    locks_ = check_files(program, options, epochs_ ? epochs_->with_inputs(inputs) : inputs, outputs_);
    if (!options.resume.empty()) require_continuable(outputs_);
    drains_ = any_peer(inputs);
    if (any_peer(outputs_)) sinks_.without_thread();
    if (auto source = input_.open({[this] { before_reading_blocks(); }, wake_up_.fd()})) {
      if (deals_rows(program)) {
        auto dealt = std::make_unique<DealtRows>(std::move(source), in_, program, *options.among, options.cycles);
        deal_ = dealt.get();
        source = std::move(dealt);
      }
      source_ = std::make_unique<ReadAhead>(std::move(source), in_,
                                            Ahead{pipelined() && !any_peer(inputs), [this] { flush(); }, &wake_up_});
    }
  }

  int execute();

 private:
  // Prepares the state (new or loaded), the input (at the cycle of the state) and the outputs (at
  // its rows).
  void begin();
  void tell(const std::vector<std::string>& lines) const;
  void settle();
  using Pieces = std::vector<std::string_view>;
  // Calls `write` with the bytes of the state's file.
  void save(const std::function<void(const Pieces&)>& write);
  void save() {
    save([this](const Pieces& pieces) { write_whole_file(save_to_, pieces); });
  }
  // The last row of an epoch was computed: measures it, and keeps the state if it is the best one.
  void end_epoch();
  bool epoch_has_ended() const {
    return epochs_ && epochs_->is_due(state_->header().pushed - cycles_before_, input_.rows_of_pass());
  }
  // The anchor collects the parts of a state that begins at a cycle. Null if no state is saved.
  Anchor* anchor() { return save_to_.empty() ? nullptr : &anchor_; }
  void add_to_anchor() {
    if (source_) record_.input_checksum = row_in().checksum(record_.input_checksum);
    anchor_.add(row_in().const_pointers(), row_in().present());
  }
  void look() {
    if (anchor_.wants_look()) anchor_.look(state_->block());
  }
  // True if --cycles is reached. Rows dealt out among ranks are counted by DealtRows instead.
  bool has_all_cycles() const {
    return options_.cycles && deal_ == nullptr && state_->header().pushed - record_.first_cycle >= *options_.cycles;
  }
  // Reads the next row. False at the end of the input, at --cycles and after a signal.
  bool next_inputs();
  // True if rows may be sent before the inputs of their cycle.
  bool leads() const { return drains_ && leading_.possible(); }
  void send_leading_row();
  bool cycle();
  // True if the state is saved after this number of cycles.
  bool saves_after(std::int64_t cycles) const;
  void save_now();
  // Runs all cycles of a network. One thread reads and pushes rows, this one pops and writes
  // them. If this thread must use the state between two cycles, the reading thread pauses: after
  // a cycle, or (waits) before it blocks for the next input.
  void run_network();
  void feed();
  void pause_reading(bool waits);
  bool take_or_wait();
  void between_cycles();
  Failure fault();
  void before_reading_blocks();
  void take_row();
  void drain();
  void finish();
  // False for a network: it has its own reading thread and enough other threads.
  bool pipelined() const { return options_.threads != 1 && program_.network == nullptr && !deals_rows(program_); }
  const Row& row_in() const { return source_ ? source_->row() : in_; }
  void flush() {
    sinks_.catch_up();
    for (const auto& sink : sinks_.sinks()) sink->flush();
    monitors_.flush();
  }
  // If the options request it, checks that all outputs and cells are finite.
  void inspect();
  // After an error, writes all complete rows. Further errors are added to `problems`.
  void salvage(Problems& problems);
  double fraction() const;
  void enter(Profile::Phase phase) {
    if (profile_) profile_->enter(phase);
  }
  void finish_profile();
  void tell_statistics(Clock::time_point start) const {
    const rml_header& header = state_->header();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (options_.stats)
      print_statistics(program_, header, {seconds, header.pushed - cycles_before_, peak_buffer_bytes_});
  }

  const rml_program& program_;
  const Options& options_;
  std::vector<NameLock> locks_;  // locks of the written files, held until everything is written
  Row out_;
  InputRows input_;
  Row& in_;  // filled by the source; the program reads source_->row()
  const std::string save_to_;
  KeptCells kept_;  // input cells that are copied to the output as text
  std::optional<MeasuredEpochs> epochs_;
  std::string best_;  // the state after the best epoch, as in a file; empty: none
  Anchor anchor_;
  Progress progress_;
  Monitors monitors_;
  std::optional<FiniteCheck> finite_;
  std::string not_finite_;            // message about the first row with a value that is not finite
  const rml_watch* watch_ = nullptr;  // the value that is not finite in that row
  std::int64_t watch_cycle_ = 0;
  // an input is a peer: the run may wait for it, and still reads from it after a signal
  bool drains_ = false;
  bool halted_ = false;  // no further row is written
  bool seen_ = true;     // rows are written or monitored
  std::vector<Endpoint> outputs_;
  WriteBehind sinks_;
  LeadingRows leading_;
  std::optional<ProgramState> state_;
  std::optional<Trace> trace_;  // records the tasks of the network
  std::optional<Network> network_;
  std::exception_ptr reading_failed_;       // set by the thread that feeds the network
  std::atomic<bool> reading_waits_{false};  // the thread that feeds the network is waiting for input
  std::atomic<double> fraction_read_{-1};   // completed share of the input, set by the thread that feeds the network
  std::atomic<std::int64_t> rows_taken_{0};
  // Source positions of recent rows, for messages; written by the thread that feeds the network.
  RecentPlaces places_;
  Pause pause_;  // pauses the thread that feeds the network, between two cycles
  bool pause_waits_ = false;
  std::optional<Profile> profile_;
  bool profile_written_ = false;  // true also after a failed attempt
  bool window_told_ = false;
  GivenParameters given_;
  RunRecord record_;
  std::int64_t cycles_before_ = 0;  // number of cycles before this process
  std::int64_t undetermined_ = 0;
  std::int64_t peak_buffer_bytes_ = 0;
  const WakeUp wake_up_;
  DealtRows* deal_ = nullptr;  // owned by source_; null: this process reads all rows
  // Reads the rows; null: the program has no inputs. Last member, because its thread uses the
  // members above.
  std::unique_ptr<ReadAhead> source_;
};

int Run::execute() {
  const Clock::time_point start = Clock::now();
  try {
    begin();
    if (options_.among != nullptr) meet(options_.among->transport());
    if (program_.network != nullptr) run_network();
    try {
      while (program_.network == nullptr && cycle()) progress_.tick(state_->header().pushed, fraction());
      if (epoch_has_ended()) end_epoch();
    } catch (const Interrupted&) {
      // A signal has come, and no further row is awaited. The run ends as it does after a whole cycle.
    }
    finish();
    settle();
    sinks_.catch_up();
    for (const auto& sink : sinks_.sinks()) sink->close();
    enter(Profile::saving);
    if (!best_.empty())
      write_whole_file(save_to_, {best_});
    else if (!save_to_.empty())
      save();
    monitors_.close();
    finish_profile();
  } catch (const Failure& failure) {
    Problems problems(failure.what());
    salvage(problems);
    if (state_) tell_statistics(start);
    throw Failure(problems.text(), failure.status());
  }
  const rml_header& header = state_->header();
  progress_.finish(header.pushed);
  tell_statistics(start);
  return tell_end(program_, header, undetermined_, options_.quiet);
}

void Run::finish_profile() {
  if (std::exchange(profile_written_, true)) return;
  if (trace_) trace_->write(options_.profile);
  if (!profile_) return;
  profile_->finish(sums_of_ranks(options_.among));
  if (!options_.quiet) std::fputs(readable(profile_->summary()).c_str(), stderr);
}

void Run::begin() {
  SavedRun before(options_);
  const std::string& path = before.path;
  std::optional<CheckpointIn>& saved = before.state;
  const bool resumed = before.resumed;
  state_.emplace(program_, saved ? saved->seed() : options_.seed.value_or(0), options_.horizon,
                 options_.among == nullptr ? nullptr : options_.among->handle());
  const rml_header& header = state_->header();
  if (!options_.profile.empty() && program_.network == nullptr) profile_.emplace(program_, header, options_.profile);
  if (profile_ && options_.among != nullptr) options_.among->note_sums();
  if (header.fault != RML_OK) throw fault();
  std::int64_t rows_again = 0;
  const std::vector<Renamed> map = parse_map(options_.map);
  if (saved) tell(told(path, saved->rename(program_, map)));
  if (saved)
    rows_again = saved->restore(program_, state_->block(), given_, anchor());
  else if (!options_.load_params.empty())
    tell(load_parameters(program_, state_->block(),
                         {options_.load_params, options_.map, options_.partial, options_.cast_params}, given_));
  if (header.fault != RML_OK)
    throw Failure(path + ": while the cycles after the saved state were repeated:\n" +
                  fault_text(program_, header, {}));
  if (anchor() != nullptr && !saved) anchor_.begin(state_->block());
  const std::int64_t rows = header.popped + rows_again;
  cycles_before_ = header.pushed;
  progress_.begin(header.pushed);
  if (resumed) {
    record_ = saved->run();
  } else {
    record_.first_cycle = header.pushed;
    record_.first_row = rows;
  }
  record_.rows_again = rows_again;
  kept_.begin(rows, resumed ? record_.first_cycle : header.pushed, resumed,
              saved ? std::optional(KeptCells::Saved{path, saved->kept()}) : std::nullopt);
  if (source_ && options_.cycles) source_->limit(std::max(*options_.cycles, header.pushed - record_.first_cycle));
  if (saved && deal_ != nullptr)
    deal_->go_on(saved->run(), resumed, path);
  else if (resumed && source_)
    skip_rows(*source_, row_in(), row_in().size(), header.pushed - record_.first_cycle, record_.input_checksum,
              options_.resume);
  if (options_.writes)
    begin_outputs(sinks_, outputs_, before, static_cast<std::uint64_t>(rows - record_.first_row), options_, record_,
                  [this] { save(); });
  leading_.begin(outputs_, saved ? saved->run().led : std::vector<std::string>());
  if (drains_) tell(leading_.warnings());
  monitors_.begin(rows, resumed ? &*saved : nullptr);
  seen_ = !sinks_.sinks().empty() || monitors_.any();
  if (options_.on_nan == OnNan::ignore) return;
  finite_.emplace(program_, out_);
  finite_->begin(state_->block());
}

void Run::tell(const std::vector<std::string>& lines) const {
  for (const std::string& line : lines)
    if (!options_.quiet) std::fprintf(stderr, "%s\n", readable_message(line).c_str());
}

void Run::settle() {
  if (save_to_.empty()) return;
  record_.led = leading_.led();
  record_outputs(sinks_, outputs_, record_);
}

// The caller settles the outputs first, so that no row which the state counts as written is lost.
void Run::save(const std::function<void(const Pieces&)>& write) {
  if (program_.network == nullptr) look();
  if (deal_ != nullptr) deal_->record(record_);
  std::vector<TensorOut> more = monitors_.tensors();
  const rml_header& header = state_->header();
  const KeptTensors kept(kept_, header.popped + record_.rows_again, header.pushed, more);
  const CheckpointOut checkpoint(program_, state_->block(), record_, std::move(more), anchor());
  write(checkpoint.pieces());
}

void Run::end_epoch() {
  if (!epochs_->end_epoch(state_->block()) || save_to_.empty()) return;
  settle();
  save([this](const Pieces& pieces) {
    best_.clear();
    for (const std::string_view piece : pieces) best_ += piece;
  });
}

bool Run::saves_after(std::int64_t cycles) const {
  if (deal_ != nullptr) return !save_to_.empty() && deal_->step_passes(options_.save_every);
  return !save_to_.empty() && options_.save_every > 0 && (cycles - record_.first_cycle) % options_.save_every == 0;
}

void Run::save_now() {
  settle();
  save();
  monitors_.draw();
}

bool Run::next_inputs() {
  if (has_all_cycles()) return false;
  // After a signal, reading continues from peers: they report the end once all acknowledged rows
  // are read.
  return (interrupt_signal() == 0 || drains_ || deal_ != nullptr) && (!source_ || source_->read());
}

// Flushes all rows, so that a peer receives row n even if it sends row n + 1 only afterwards.
void Run::before_reading_blocks() {
  if (!network_) return source_ ? source_->before_waiting() : flush();
  if (leads()) pause_reading(true);
  network_->announce();
  reading_waits_.store(true);
  network_->signal();
}

// Runs in the thread that reads.
void Run::feed() {
  const std::int64_t& cycles = state_->header().pushed;
  try {
    while (next_inputs()) {
      reading_waits_.store(false);
      if (source_ && !places_.none()) places_.add(cycles, *source_, rows_taken_.load());
      if (!network_->push(row_in().const_pointers(), row_in().present())) break;
      if (!save_to_.empty()) add_to_anchor();
      if (progress_.enabled()) fraction_read_.store(fraction());
      if (finite_ || saves_after(cycles) || (!save_to_.empty() && anchor_.wants_look())) pause_reading(false);
    }
    if (leads()) pause_reading(true);
  } catch (const Interrupted&) {
    // A signal has come, and the program waits for no further row.
  } catch (...) {
    reading_failed_ = std::current_exception();
  }
  network_->close();
}

void Run::pause_reading(bool waits) {
  pause_waits_ = waits;
  network_->announce();
  pause_.begin();
  network_->signal();
  pause_.wait();
}

void Run::run_network() {
  const unsigned workers = network_workers(options_.workers);
  if (!options_.profile.empty()) trace_.emplace(workers, std::size_t{1} << 16, program_.name);
  network_.emplace(program_, state_->block(), NetworkOptions{workers, options_.capacity, trace_ ? &*trace_ : nullptr});
  rows_taken_.store(state_->header().popped);
  std::thread reader = start_thread([this] { feed(); });
  try {
    while (take_or_wait()) {
    }
  } catch (...) {
    network_->cancel();
    pause_.give_up();
    wake_up_.ring();
    reader.join();
    network_.reset();
    halted_ = true;
    throw;
  }
  pause_.give_up();
  reader.join();
  network_->stop();
  network_->report();
  peak_buffer_bytes_ = static_cast<std::int64_t>(network_->bytes());
  if (reading_failed_) std::rethrow_exception(reading_failed_);
  if (state_->header().fault != RML_OK) throw fault();
}

// Returns false when there will be no more rows. `settled` is read before the last row is popped;
// the network stays settled afterwards, because no further cycle is pushed meanwhile.
bool Run::take_or_wait() {
  const std::uint32_t seen = network_->changes();
  const bool at_rest = pause_.begun() && network_->settled();
  const Network::Row row = network_->try_pop(out_.pointers(), out_.present());
  if (row == Network::Row::ended) return false;
  if (row == Network::Row::there) {
    const std::int64_t rows = state_->header().popped;
    rows_taken_.store(rows);
    take_row();
    progress_.tick(rows, fraction_read_.load());
  } else if (at_rest) {
    between_cycles();
    pause_.end();
  } else {
    if (reading_waits_.load()) flush();
    network_->wait(seen);
  }
  return true;
}

// Called only if no task has failed; after a failure the rows have already ended.
void Run::between_cycles() {
  if (pause_waits_) {
    send_leading_row();
    return flush();
  }
  network_->report();
  peak_buffer_bytes_ = static_cast<std::int64_t>(network_->bytes());
  inspect();
  if (!save_to_.empty()) look();
  if (saves_after(state_->header().pushed)) save_now();
}

// In a network, the row that caused the fault is usually not the last one read, so its position
// is looked up.
Failure Run::fault() {
  const rml_header& header = state_->header();
  // another rank is lost, and this cycle has no valid row
  if (header.fault == RML_OK) halted_ = true;
  if (options_.among != nullptr) options_.among->rethrow();
  if (!source_) return Failure(fault_text(program_, header, {}));
  return Failure(fault_text(program_, header, [&](std::uint32_t input) {
    if (!network_) return source_->place(input);
    return place_text(source_->file(input), places_.of(header.pushed, input));
  }));
}

// After a signal there may be no further cycle, so no row is sent early.
void Run::send_leading_row() {
  const rml_header& header = state_->header();
  if (header.popped != header.pushed || record_.rows_again > 0 || halted_) return;
  if (!has_all_cycles() && interrupt_signal() == 0) leading_.send(state_->block(), finite_ ? &*finite_ : nullptr);
}

bool Run::cycle() {
  rml_header& header = state_->header();
  enter(Profile::reading);
  if (leads()) send_leading_row();
  if (!next_inputs()) return false;
  if (epoch_has_ended()) {
    end_epoch();
    if (epochs_->over()) return false;
  }
  enter(Profile::computing);
  const std::int32_t fault = program_.push(state_->block(), row_in().const_pointers(), row_in().present());
  if (fault != RML_OK) throw this->fault();
  peak_buffer_bytes_ = std::max(peak_buffer_bytes_, header.buffer_bytes);
  enter(Profile::writing);
  drain();
  inspect();
  if (needs_itself(header)) throw Failure(undetermined_text(program_, header));
  if (!window_told_) window_told_ = tell_window(program_, state_->block(), options_.quiet);
  enter(Profile::saving);
  if (!save_to_.empty()) {
    add_to_anchor();
    look();
    if (saves_after(header.pushed)) save_now();
  }
  return true;
}

void Run::drain() {
  if (program_.network != nullptr) return;  // a network has already handed out all its rows
  const rml_header& header = state_->header();
  while (!halted_ && header.popped < header.pushed &&
         program_.pop(state_->block(), out_.pointers(), out_.present()) == 1)
    take_row();
}

void Run::take_row() {
  if (halted_) return;  // a halted run writes no further row, but a network still hands out its complete rows
  if (record_.rows_again > 0) {
    --record_.rows_again;
    return;
  }
  out_.set_always_present();
  const std::int64_t cycle = state_->header().popped - 1;
  if (finite_ && watch_ == nullptr && (watch_ = finite_->in_row()) != nullptr) {
    watch_cycle_ = cycle;
    not_finite_ = finite_->text(*watch_, cycle, state_->block());
    halted_ = options_.on_nan == OnNan::stop;
    if (halted_) return;
  }
  if (epochs_) epochs_->add(out_);
  if (!seen_) return;
  monitors_.row(cycle);
  leading_.write();
}

// Chooses between the first bad row and the first bad cell. A row may come out cycles after its
// own, whereas the cells are those of the last cycle. Within one cycle the order of the watches
// decides.
void Run::inspect() {
  if (!finite_) return;
  const std::int64_t cycle = state_->header().pushed - 1;
  const rml_watch* const cell = finite_->in_state(state_->block());
  if (watch_ == nullptr && cell == nullptr) return;
  const bool row_first = watch_ != nullptr && (cell == nullptr || watch_cycle_ < cycle || watch_ < cell);
  const std::string text = row_first ? not_finite_ : finite_->text(*cell, cycle, state_->block());
  halted_ = options_.on_nan == OnNan::stop;
  if (halted_) throw Failure(text);
  std::fprintf(stderr, "%s\n", readable_message(text).c_str());
  finite_.reset();
}

void Run::finish() {
  enter(Profile::computing);
  const std::int32_t fault = program_.finish(state_->block());
  if (fault != RML_OK) throw this->fault();
  enter(Profile::writing);
  drain();
  inspect();
  undetermined_ = state_->header().pushed - state_->header().popped;
  if (undetermined_ <= 0) return;
  sinks_.catch_up();
  for (const auto& sink : sinks_.sinks()) sink->undetermined(undetermined_);
}

void Run::salvage(Problems& problems) {
  if (state_) problems.attempt([&] { drain(); });
  problems.attempt([&] { finish_profile(); });
  sinks_.salvage(problems);
  if (!sinks_.sinks().empty() || outputs_.empty()) problems.attempt([&] { monitors_.close(); });
  if (state_) progress_.finish(state_->header().pushed);
}

double Run::fraction() const {
  if (!progress_.enabled()) return -1;
  const double of_input = source_ ? source_->fraction() : -1;
  if (!options_.cycles || *options_.cycles == 0) return of_input;
  const double of_cycles =
      static_cast<double>(state_->header().pushed - record_.first_cycle) / static_cast<double>(*options_.cycles);
  return std::max(of_input, of_cycles);
}

}  // namespace

int run_program(const rml_program& program, const Options& options) { return Run(program, options).execute(); }

}  // namespace rml::rt
