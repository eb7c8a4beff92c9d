// One run of a program without keys: its inputs and outputs, its state, and the parts that observe it.
// run.cc has the cycle loop; runs with keys are in runtime/keys.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/failure.h"
#include "runtime/base/file_lock.h"
#include "runtime/base/problems.h"
#include "runtime/base/rmlrt.h"
#include "runtime/checkpoint/anchor.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/load_parameters.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/epochs/input_rows.h"
#include "runtime/monitor/finite_check.h"
#include "runtime/monitor/monitors.h"
#include "runtime/monitor/profile.h"
#include "runtime/options/options.h"
#include "runtime/pipeline/pause.h"
#include "runtime/pipeline/read_ahead.h"
#include "runtime/pipeline/recent_places.h"
#include "runtime/pipeline/wake_up.h"
#include "runtime/pipeline/write_behind.h"
#include "runtime/ranks/deal.h"
#include "runtime/run/files_of_run.h"
#include "runtime/run/leading_rows.h"
#include "runtime/run/live_figures.h"
#include "runtime/run/measured_epochs.h"
#include "runtime/run/program_state.h"
#include "runtime/run/progress.h"
#include "runtime/run/reporter.h"
#include "runtime/run/resume.h"
#include "runtime/run/save_times.h"
#include "runtime/run/statistics.h"
#include "runtime/scheduler/network.h"
#include "runtime/stream_io/bad_rows.h"
#include "runtime/stream_io/endpoints/endpoints.h"
#include "runtime/stream_io/endpoints/old_rows.h"
#include "runtime/stream_io/endpoints/silent_inputs.h"

namespace rml::rt {

class ProgramRun {
 public:
  ProgramRun(const rml_program& program, const Options& options)
      : program_(program),
        options_(options),
        out_(program.outputs, program.n_outputs),
        input_(program, options, options.inputs, options.training, out_),
        in_(input_.row()),
        save_to_(options.state_file()),
        save_times_(options),
        kept_(options.kept),
        anchor_(program),
        progress_(options, out_),
        monitors_(program, options, out_),
        sinks_(out_, program.n_outputs - program.n_watched, pipelined()),
        leading_(program, out_, sinks_),
        places_(in_),
        bad_rows_(options.writes ? options.bad_rows : "", options.writes && !options.quiet) {
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
    if (!options.resume.empty()) {
      require_continuable(outputs_);
      refuse_silent(inputs, "--resume",
                    "a run reads its input again, and a cycle without a row is in no input; use "
                    "--load and --save");
    }
    drains_ = any_peer(inputs);
    if (any_peer(outputs_)) sinks_.without_thread();
    const Waiting waiting{[this] { before_reading_blocks(); }, wake_up_.fd(), [this] { while_reading_blocks(); },
                          &missed_ticks_};
    if (auto source = input_.open(waiting, options.reading.skip_bad_rows ? &bad_rows_ : nullptr)) {
      if (deals_rows(program)) {
        auto dealt = std::make_unique<DealtRows>(std::move(source), in_, program, *options.among, options.cycles);
        deal_ = dealt.get();
        source = std::move(dealt);
      }
      source_ =
          std::make_unique<ReadAhead>(std::move(source), in_,
                                      Ahead{pipelined() && !any_peer(inputs) && !any_silent(inputs),
                                            [this] { flush_and_wait(); }, &wake_up_, [this] { save_while_waiting(); }});
    }
  }

  int execute();

 private:
  using Clock = std::chrono::steady_clock;

  // Prepares the state (new or loaded), the input (at the cycle of the state) and the outputs (at
  // its rows).
  void begin();
  // Makes the state: a new one, or the saved one. Returns the number of rows that the run has written
  // before and computes again.
  std::int64_t begin_state(SavedRun& before);
  void tell(const std::vector<std::string>& lines) const { print_notes(lines, options_.quiet); }
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
  bool has_all_cycles() const { return options_.cycles && deal_ == nullptr && rows_of_run() >= *options_.cycles; }
  std::int64_t rows_of_run() const { return state_->header().pushed - record_.first_cycle; }
  // Reads the next row. False at the end of the input, at --cycles and after a signal.
  bool next_inputs();
  // True if rows may be sent before the inputs of their cycle.
  bool leads() const { return drains_ && leading_.possible(); }
  void send_leading_row();
  bool cycle();
  // True if the state is saved after this number of cycles.
  bool saves_after(std::int64_t cycles) const;
  void save_now();
  void save_while_waiting() {
    if (save_times_.due_in_wait(rows_of_run())) save_now();
  }
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
  void while_reading_blocks();
  void flush_and_wait() {
    if (figures_) figures_->waits();
    flush();
  }
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
    print_bad_rows(options_, bad_rows_);
    print_missed_ticks(options_, missed_ticks_.load());
  }

  const rml_program& program_;
  const Options& options_;
  std::vector<NameLock> locks_;  // locks of the written files, held until everything is written
  Row out_;
  InputRows input_;
  Row& in_;  // filled by the source; the program reads source_->row()
  const std::string save_to_;
  SaveTimes save_times_;
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
  // Source positions of recent rows; written by the thread that feeds the network.
  RecentPlaces places_;
  BadRows bad_rows_;
  std::atomic<std::int64_t> missed_ticks_{-1};  // of timers; negative: there is none
  std::optional<StopBetweenCycles> stopped_;    // the run ends early, and its state is saved
  Pause pause_;                                 // pauses the thread that feeds the network, between two cycles
  bool pause_waits_ = false;
  std::optional<Profile> profile_;
  bool profile_written_ = false;  // true also after a failed attempt
  bool window_told_ = false;
  GivenParameters given_;
  RunRecord record_;
  std::int64_t cycles_before_ = 0;  // number of cycles before this process
  std::int64_t undetermined_ = 0;
  std::int64_t peak_buffer_bytes_ = 0;
  std::optional<RowFigures> figures_;
  std::unique_ptr<Reporter> reporter_;
  const WakeUp wake_up_;
  DealtRows* deal_ = nullptr;  // owned by source_; null: this process reads all rows
  // Reads the rows; null: the program has no inputs. Last member, because its thread uses the
  // members above.
  std::unique_ptr<ReadAhead> source_;
};

}  // namespace rml::rt
