// Runs a program: rows are read ahead and written behind by other threads (pipeline/).
//
// The order of the first steps protects old outputs. Inputs are opened and their headers checked,
// then a saved state is read; only then are outputs created or cut, so that a wrong input or
// state destroys nothing. At the end of the input, `finish` reports the condition that incomplete
// rows still wait for. Complete rows are written, whatever ended the run.
#include "runtime/run/run.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <thread>

#include "runtime/base/faults.h"
#include "runtime/base/readable.h"
#include "runtime/base/signals.h"
#include "runtime/checkpoint/kept_tensors.h"
#include "runtime/pipeline/skip_rows.h"
#include "runtime/ranks/agreement.h"
#include "runtime/ranks/ranks.h"
#include "runtime/run/program_run.h"
#include "runtime/run/resume.h"

namespace rml::rt {

int ProgramRun::execute() {
  const Clock::time_point start = Clock::now();
  try {
    begin();
    if (options_.among != nullptr) meet(options_.among->transport());
    try {
      if (program_.network != nullptr) run_network();
      while (program_.network == nullptr && cycle()) progress_.tick(state_->header().pushed, fraction());
      if (epoch_has_ended()) end_epoch();
    } catch (const Interrupted&) {
      // A signal has come, and no further row is awaited. The run ends as it does after a whole cycle.
    } catch (const StopBetweenCycles& stop) {
      stopped_ = stop;
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
    Problems problems((stopped_ ? stopped_->what() + std::string("\n") : "") + failure.what());
    salvage(problems);
    if (state_) tell_statistics(start);
    throw Failure(problems.text(), failure.status());
  }
  const rml_header& header = state_->header();
  progress_.finish(header.pushed);
  tell_statistics(start);
  if (stopped_) throw Failure(*stopped_);
  return tell_end(program_, header, undetermined_, options_.quiet);
}

void ProgramRun::finish_profile() {
  if (std::exchange(profile_written_, true)) return;
  if (trace_) trace_->write(options_.profile);
  if (!profile_) return;
  profile_->finish(sums_of_ranks(options_.among));
  if (!options_.quiet) std::fputs(readable(profile_->summary()).c_str(), stderr);
}

std::int64_t ProgramRun::begin_state(SavedRun& before) {
  std::optional<CheckpointIn>& saved = before.state;
  state_.emplace(program_, saved ? saved->seed() : options_.seed.value_or(0), options_.horizon,
                 options_.among == nullptr ? nullptr : options_.among->handle());
  const rml_header& header = state_->header();
  if (!options_.profile.empty() && program_.network == nullptr) profile_.emplace(program_, header, options_.profile);
  if (profile_ && options_.among != nullptr) options_.among->note_sums();
  if (header.fault != RML_OK) throw fault();
  std::int64_t rows_again = 0;
  const std::vector<Renamed> map = parse_map(options_.map);
  if (saved) {
    tell(told(before.path, saved->rename(program_, map)));
    rows_again = saved->restore(program_, state_->block(), given_, anchor());
  } else if (!options_.load_params.empty()) {
    tell(load_parameters(program_, state_->block(),
                         {options_.load_params, options_.map, options_.partial, options_.cast_params}, given_));
  }
  if (header.fault != RML_OK)
    throw Failure(before.path + ": while the cycles after the saved state were repeated:\n" +
                  fault_text(program_, header, {}));
  if (anchor() != nullptr && !saved) anchor_.begin(state_->block());
  return rows_again;
}

void ProgramRun::begin() {
  SavedRun before(options_);
  const std::string& path = before.path;
  const std::optional<CheckpointIn>& saved = before.state;
  const bool resumed = before.resumed;
  const std::int64_t rows_again = begin_state(before);
  const rml_header& header = state_->header();
  const std::int64_t rows = header.popped + rows_again;
  cycles_before_ = header.pushed;
  progress_.begin(header.pushed);
  figures_.emplace(header.pushed, header.popped, options_.reading.skip_bad_rows ? &bad_rows_ : nullptr, missed_ticks_);
  reporter_ = start_reporter(options_, *figures_);
  if (resumed) {
    record_ = saved->run();
  } else {
    record_.first_cycle = header.pushed;
    record_.first_row = rows;
  }
  record_.rows_again = rows_again;
  save_times_.begin(rows_of_run());
  begin_bad_rows(bad_rows_, options_, resumed, header.pushed - record_.first_cycle);
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
  bad_rows_.open();
  leading_.begin(outputs_, saved ? saved->run().led : std::vector<std::string>());
  if (drains_) tell(leading_.warnings());
  monitors_.begin(rows, resumed ? &*saved : nullptr);
  seen_ = !sinks_.sinks().empty() || monitors_.any();
  if (options_.on_nan == OnNan::ignore) return;
  finite_.emplace(program_, out_);
  finite_->begin(state_->block());
}

void ProgramRun::settle() {
  bad_rows_.settle();
  if (save_to_.empty()) return;
  record_.led = leading_.led();
  record_outputs(sinks_, outputs_, record_);
}

// The caller settles the outputs first, so that no row which the state counts as written is lost.
void ProgramRun::save(const std::function<void(const Pieces&)>& write) {
  if (program_.network == nullptr) look();
  if (deal_ != nullptr) deal_->record(record_);
  std::vector<TensorOut> more = monitors_.tensors();
  const rml_header& header = state_->header();
  const KeptTensors kept(kept_, header.popped + record_.rows_again, header.pushed, more);
  const CheckpointOut checkpoint(program_, state_->block(), record_, std::move(more), anchor());
  write(checkpoint.pieces());
}

void ProgramRun::end_epoch() {
  if (!epochs_->end_epoch(state_->block()) || save_to_.empty()) return;
  settle();
  save([this](const Pieces& pieces) {
    best_.clear();
    for (const std::string_view piece : pieces) best_ += piece;
  });
}

bool ProgramRun::saves_after(std::int64_t cycles) const {
  if (deal_ != nullptr) return !save_to_.empty() && deal_->step_passes(options_.save_every);
  return save_times_.due(cycles - record_.first_cycle);
}

void ProgramRun::save_now() {
  settle();
  save();
  save_times_.saved(rows_of_run());
  monitors_.draw();
}

bool ProgramRun::next_inputs() {
  if (has_all_cycles()) return false;
  // After a signal, reading continues from peers: they report the end once all acknowledged rows
  // are read.
  return (interrupt_signal() == 0 || drains_ || deal_ != nullptr) && (!source_ || source_->read());
}

// Flushes all rows, so that a peer receives row n even if it sends row n + 1 only afterwards.
void ProgramRun::before_reading_blocks() {
  if (!network_) return source_ ? source_->before_waiting() : flush();
  if (leads()) pause_reading(true);
  figures_->waits();
  network_->announce();
  reading_waits_.store(true);
  network_->signal();
}

void ProgramRun::while_reading_blocks() {
  if (!network_) return source_ ? source_->during_wait() : void();
  if (save_times_.due_in_wait(rows_of_run())) pause_reading(false);
}

// Runs in the thread that reads.
void ProgramRun::feed() {
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

void ProgramRun::pause_reading(bool waits) {
  pause_waits_ = waits;
  network_->announce();
  pause_.begin();
  network_->signal();
  pause_.wait();
}

void ProgramRun::run_network() {
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
  if (state_->header().fault != RML_OK) throw fault();
  if (reading_failed_) std::rethrow_exception(reading_failed_);
}

// Returns false when there will be no more rows. `settled` is read before the last row is popped;
// the network stays settled afterwards, because no further cycle is pushed meanwhile.
bool ProgramRun::take_or_wait() {
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
void ProgramRun::between_cycles() {
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
Failure ProgramRun::fault() {
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
void ProgramRun::send_leading_row() {
  const rml_header& header = state_->header();
  if (header.popped != header.pushed || record_.rows_again > 0 || halted_) return;
  if (!has_all_cycles() && interrupt_signal() == 0) leading_.send(state_->block(), finite_ ? &*finite_ : nullptr);
}

bool ProgramRun::cycle() {
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

void ProgramRun::drain() {
  if (program_.network != nullptr) return;  // a network has already handed out all its rows
  const rml_header& header = state_->header();
  while (!halted_ && header.popped < header.pushed &&
         program_.pop(state_->block(), out_.pointers(), out_.present()) == 1)
    take_row();
}

void ProgramRun::take_row() {
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
void ProgramRun::inspect() {
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

void ProgramRun::finish() {
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

void ProgramRun::salvage(Problems& problems) {
  if (state_) problems.attempt([&] { drain(); });
  problems.attempt([&] { finish_profile(); });
  sinks_.salvage(problems);
  if (!sinks_.sinks().empty() || outputs_.empty()) problems.attempt([&] { monitors_.close(); });
  if (state_) progress_.finish(state_->header().pushed);
}

double ProgramRun::fraction() const {
  if (!progress_.enabled()) return -1;
  const double of_input = source_ ? source_->fraction() : -1;
  if (!options_.cycles || *options_.cycles == 0) return of_input;
  return std::max(of_input, static_cast<double>(rows_of_run()) / static_cast<double>(*options_.cycles));
}

int run_program(const rml_program& program, const Options& options) { return ProgramRun(program, options).execute(); }

}  // namespace rml::rt
