// The cycle loop with keys, similar to run.cc: rows are read ahead and written behind, and
// complete rows are written whatever stops the run.
//
// In an input row the key follows the ports of the program, and its number follows the key if the
// key is a value. In an output row the key precedes the ports. The ports of the program are thus
// adjacent in both. A row is written in the cycle that makes it known.
#include "runtime/keys/keyed_run.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/faults.h"
#include "runtime/base/problems.h"
#include "runtime/base/readable.h"
#include "runtime/base/signals.h"
#include "runtime/checkpoint/kept_tensors.h"
#include "runtime/checkpoint/load_parameters.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/keys/key_option.h"
#include "runtime/keys/key_states.h"
#include "runtime/keys/keyed_checkpoint.h"
#include "runtime/keys/keys.h"
#include "runtime/keys/numbered_keys.h"
#include "runtime/keys/rows_together.h"
#include "runtime/keys/waiting_rows.h"
#include "runtime/pipeline/read_ahead.h"
#include "runtime/pipeline/skip_rows.h"
#include "runtime/pipeline/write_behind.h"
#include "runtime/run/files_of_run.h"
#include "runtime/run/live_figures.h"
#include "runtime/run/progress.h"
#include "runtime/run/reporter.h"
#include "runtime/run/resume.h"
#include "runtime/run/save_times.h"
#include "runtime/run/statistics.h"
#include "runtime/stream_io/endpoints/endpoints.h"
#include "runtime/stream_io/endpoints/old_rows.h"
#include "runtime/stream_io/endpoints/open_endpoints.h"

namespace rml::rt {
namespace {

using Clock = std::chrono::steady_clock;

class KeyedFigures final : public RowFigures {
 public:
  KeyedFigures(const std::int64_t& read, const std::int64_t& written, const BadRows* bad,
               const std::atomic<std::int64_t>& missed, const Keys& keys)
      : RowFigures(read, written, bad, missed), keys_(keys) {}
  std::int64_t keys() const override { return keys_.size(); }

 private:
  const Keys& keys_;
};

class KeyedRun {
 public:
  KeyedRun(const rml_program& program, const Options& options);
  int execute();

 private:
  void begin();
  void tell(const std::vector<std::string>& lines) const { print_notes(lines, options_.quiet); }
  void load(const CheckpointIn& saved);
  void begin_kept(const SavedRun& before);
  void save();
  void write_state();
  std::int64_t rows_of_run() const { return rows_read_ - record_.first_cycle; }
  bool has_all_cycles() const { return options_.cycles && rows_of_run() >= *options_.cycles; }
  void save_if_due() {
    if (save_times_.due(rows_of_run())) save_now();
  }
  void save_now() {
    save();
    save_times_.saved(rows_of_run());
  }
  void save_while_waiting() {
    if (save_times_.due_in_wait(rows_of_run())) save_now();
  }
  bool next_row();
  std::uint32_t key_of_row();
  bool cycle();
  // Computes the next rows together, if possible.
  bool cycles();
  void pass(std::uint32_t rows);
  void sum_up_row();
  // Writes the known rows of the current key.
  void drain();
  void write_row();
  void finish();
  // Writes the remaining known rows of all keys in the order of the input. A row may become known
  // only after an earlier row of its key was handed out.
  void write_waiting_rows();
  void show_key(std::uint32_t key);
  Failure fault() const;
  std::string key_text() const { return readable(keys_.text(key_)); }
  double fraction() const;
  void flush() {
    sinks_.catch_up();
    for (const auto& sink : sinks_.sinks()) sink->flush();
  }
  void flush_and_wait() {
    if (figures_) figures_->waits();
    flush();
  }
  void tell_statistics(Clock::time_point start) const;
  void tell_undetermined() const;

  const rml_program& program_;
  const Options& options_;
  std::vector<NameLock> locks_;  // locks of the written files, held until everything is written
  const KeyColumn column_;
  const std::uint64_t key_bytes_;
  const std::vector<rml_port> inputs_, outputs_;
  // indices of ports of the input; in the output, the key is port 0
  const std::uint32_t key_input_, number_input_;
  Row in_;
  const Row of_files_;  // the ports of in_ whose values come from files
  Row out_;
  Memory memory_;
  Keys keys_;
  KeptCells kept_;  // input cells that are copied to the output
  ColumnTexts texts_;
  Progress progress_;
  WriteBehind sinks_;
  std::vector<Endpoint> sinks_to_;
  GivenParameters given_;
  std::optional<KeyStates> states_;
  std::optional<RowsTogether> together_;  // computes rows of several keys together; none: rows are computed one by one
  PortArrays read_, written_;             // addresses of rows that are computed together
  std::uint32_t alone_ = 0;               // number of next rows to compute one by one
  WaitingRows waiting_;
  std::uint64_t seed_;
  std::uint32_t key_ = 0;  // key of the row that was read last
  bool in_cycle_ = false;  // the state of the key `key_` is the current one
  std::uint32_t shown_key_ = UINT32_MAX;
  std::int64_t rows_read_ = 0, rows_written_ = 0, rows_in_lanes_ = 0;
  const std::string save_to_;  // path of the saved state; empty: it is not saved
  SaveTimes save_times_;
  RunRecord record_;
  std::int64_t longest_segment_ = 0;
  std::int64_t undetermined_ = 0;
  std::uint32_t undetermined_keys_ = 0, first_undetermined_ = 0;
  std::string undetermined_reason_;
  BadRows bad_rows_;
  std::atomic<std::int64_t> missed_ticks_{-1};  // of timers; negative: there is none
  std::optional<StopBetweenCycles> stopped_;    // the run ends early, and its state is saved
  bool drains_ = false;                         // an input is a peer, which is still read after a signal
  std::optional<KeyedFigures> figures_;
  std::unique_ptr<Reporter> reporter_;
  const WakeUp wake_up_;
  std::unique_ptr<ReadAhead> source_;  // last member, because its thread uses the members above
};

constexpr std::uint32_t rows_ahead = 8;  // number of rows between the one that is prefetched and the current one

std::vector<rml_port> with_key_behind(const rml_program& program, const KeyColumn& column) {
  std::vector<rml_port> all(program.inputs, program.inputs + program.n_inputs);
  all.push_back(column.port());
  if (!column.is_text) all.push_back({"", "base", RML_U32, 1, 0, 0, nullptr, 1});
  return all;
}

std::vector<rml_port> with_key_before(const rml_program& program, const KeyColumn& column) {
  std::vector<rml_port> all{column.port()};
  all.insert(all.end(), program.outputs, program.outputs + program.n_outputs);
  return all;
}

std::uint32_t at_most(std::uint32_t rows, std::int64_t most) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(rows, most));
}

std::uint32_t number_at(const void* place) {
  std::uint32_t number = 0;
  std::memcpy(&number, place, sizeof number);
  return number;
}

KeyedRun::KeyedRun(const rml_program& program, const Options& options)
    : program_(program),
      options_(options),
      column_(key_column(program, options.key)),
      key_bytes_(dtype_bytes(column_.dtype)),
      inputs_(with_key_behind(program, column_)),
      outputs_(with_key_before(program, column_)),
      key_input_(program.n_inputs),
      number_input_(key_input_ + (column_.is_text ? 0 : 1)),
      in_(inputs_.data(), number_input_ + 1),
      of_files_(Row::showing(in_, key_input_ + 1)),
      out_(outputs_.data(), program.n_outputs + 1),
      memory_(default_memory_ceiling()),
      keys_(memory_, column_.is_text ? std::nullopt : std::optional(column_.dtype)),
      kept_(options.kept),
      texts_(options.reading, of_files_, out_),
      progress_(options, out_),
      sinks_(out_, 1 + program.n_outputs - program.n_watched, options.threads != 1),
      read_(inputs_.size()),
      written_(outputs_.size()),
      seed_(options.seed.value_or(0)),
      save_to_(options.resume.empty() ? options.save : options.resume),
      save_times_(options),
      bad_rows_(options.bad_rows, !options.quiet) {
  require_keyable(program, options);
  if (column_.is_text && texts_.of_input(key_input_))
    throw Failure("--key " + column_.name + ": its cells are the keys themselves, neither classes nor times",
                  exit_usage);
  if (column_.is_text) {
    texts_.use_keys(keys_.texts(), key_input_, 0);
    bad_rows_.use_keys(keys_.texts());
  }
  auto inputs =
      plan_endpoints(Direction::in, options.inputs, options.format, of_files_, options.reading, {}, key_input_);
  const Row own(outputs_.data(), 1 + program.n_outputs - program.n_watched);
  sinks_to_ = plan_endpoints(Direction::out, options.outputs, options.format, own, {}, {}, 0);
  append_to_files(sinks_to_, options.append);
  refuse_overlap(inputs, sinks_to_);
  keep_cells(kept_, inputs, sinks_to_, own);
  use_texts(texts_, of_files_, inputs, own, sinks_to_);
  locks_ = check_files(program, options, inputs, sinks_to_);
  if (!options.resume.empty()) require_continuable(sinks_to_);
  drains_ = any_peer(inputs);
  if (any_peer(sinks_to_)) sinks_.without_thread();
  const Waiting waiting{[this] { source_ ? source_->before_waiting() : flush(); }, wake_up_.fd(),
                        [this] {
                          if (source_) source_->during_wait();
                        },
                        &missed_ticks_};
  auto source = open_sources(inputs, in_, waiting, options.reading.skip_bad_rows ? &bad_rows_ : nullptr);
  if (!column_.is_text) source = std::make_unique<NumberedKeys>(std::move(source), in_, key_input_, keys_);
  source_ = std::make_unique<ReadAhead>(std::move(source), in_,
                                        Ahead{options.threads != 1 && !drains_, [this] { flush_and_wait(); }, &wake_up_,
                                              [this] { save_while_waiting(); }});
}

int KeyedRun::execute() {
  const Clock::time_point start = Clock::now();
  try {
    begin();
    try {
      while (cycles() || cycle()) progress_.tick(rows_read_, fraction());
    } catch (const Interrupted&) {
      // A signal has come, and no further row is awaited. The run ends as it does after a whole cycle.
    } catch (const StopBetweenCycles& stop) {
      stopped_ = stop;
    }
    // Saves before `finish`: the rows that become known only by the end of the input are written
    // again by the run that resumes, then in the order of all its rows.
    if (!options_.resume.empty()) save();
    finish();
    if (!options_.save.empty()) save();
    sinks_.catch_up();
    for (const auto& sink : sinks_.sinks()) sink->close();
  } catch (const Failure& failure) {
    Problems problems((stopped_ ? stopped_->what() + std::string("\n") : "") + failure.what());
    if (states_ && in_cycle_) problems.attempt([&] { drain(); });
    sinks_.salvage(problems);
    progress_.finish(rows_read_);
    tell_statistics(start);
    throw Failure(problems.text(), failure.status());
  }
  progress_.finish(rows_read_);
  tell_statistics(start);
  if (stopped_) throw Failure(*stopped_);
  const int signal = interrupt_signal();
  if (signal != 0 && signal != SIGPIPE && !options_.quiet)
    std::fprintf(stderr, "interrupted after %" PRId64 " cycles\n", rows_read_);
  tell_undetermined();
  return signal == 0 ? static_cast<int>(exit_ok) : 128 + signal;
}

void KeyedRun::begin() {
  const SavedRun before(options_);
  const std::optional<CheckpointIn>& saved = before.state;
  const bool resumed = before.resumed;
  if (saved) seed_ = saved->seed();
  states_.emplace(program_, keys_, memory_, seed_, options_.horizon);
  states_->share(options_.shared);
  if (!options_.load_params.empty())
    states_->begin_with([this](void* state) {
      tell(load_parameters(program_, state,
                           {options_.load_params, options_.map, options_.partial, options_.cast_params}, given_));
    });
  if (RowsTogether::are_possible(program_, *states_)) together_.emplace(program_, *states_, out_);
  if (saved) load(*saved);
  record_.first_cycle = rows_read_;
  record_.first_row = rows_written_;
  if (resumed) record_ = saved->run();
  begin_kept(before);
  begin_bad_rows(bad_rows_, options_, resumed, rows_of_run());
  progress_.begin(rows_read_);
  figures_.emplace(rows_read_, rows_written_, options_.reading.skip_bad_rows ? &bad_rows_ : nullptr, missed_ticks_,
                   keys_);
  reporter_ = start_reporter(options_, *figures_);
  save_times_.begin(rows_of_run());
  if (options_.cycles) source_->limit(std::max(*options_.cycles, rows_of_run()));
  if (resumed)
    skip_rows(*source_, source_->row(), key_input_ + 1, rows_of_run(), record_.input_checksum, options_.resume);
  begin_outputs(sinks_, sinks_to_, before, static_cast<std::uint64_t>(rows_written_ - record_.first_row), options_,
                record_, [this] { write_state(); });
  bad_rows_.open();
}

// Without rows that wait, each row leaves in its cycle.
void KeyedRun::begin_kept(const SavedRun& before) {
  const std::int64_t first = before.resumed ? record_.first_cycle : rows_read_;
  std::optional<KeptCells::Saved> saved;
  if (before.state) saved = KeptCells::Saved{before.path, before.state->kept()};
  if (states_->may_wait())
    kept_.wait_for_rows(first, rows_read_, before.resumed, waiting_.all(), saved);
  else
    kept_.begin(rows_read_, first, before.resumed, saved);
}

void KeyedRun::load(const CheckpointIn& saved) {
  tell(restore_keys(saved, program_, parse_map(options_.map), keys_, *states_, waiting_, given_));
  rows_read_ = saved.cycles();
  rows_written_ = saved.rows();
}

// The outputs are brought to the disk first, so that no row is lost which the saved states count as written.
void KeyedRun::save() {
  bad_rows_.settle();
  record_outputs(sinks_, sinks_to_, record_);
  write_state();
}

void KeyedRun::write_state() {
  const KeyedStreams streams{seed_, rows_read_, rows_written_};
  std::vector<TensorOut> more;
  std::optional<KeptTensors> kept;
  if (kept_.any())
    kept.emplace(states_->may_wait() ? kept_.waiting_lines(rows_read_) : kept_.lines(rows_read_, rows_read_), more);
  write_whole_file(save_to_, [&](const PutBytes& put) {
    save_keys(program_, keys_, *states_, waiting_, streams, record_, more, memory_, put);
  });
}

bool KeyedRun::next_row() {
  if (has_all_cycles()) return false;
  return (interrupt_signal() == 0 || drains_) && source_->read();
}

std::uint32_t KeyedRun::key_of_row() {
  const Row& row = source_->row();
  const std::uint32_t key = number_at(row.data(number_input_));
  if (!column_.is_text) {
    // The rows that become known in this cycle mostly belong to this key, so its value is copied
    // as it was read.
    copy_value(out_.data(0), row.data(key_input_), key_bytes_);
    shown_key_ = key;
  }
  if (const void* const later = source_->ahead(number_input_, rows_ahead)) states_->expect(number_at(later));
  return key;
}

bool KeyedRun::cycle() {
  if (!next_row()) return false;
  in_cycle_ = false;
  key_ = key_of_row();
  rml_header& header = states_->enter(key_);
  in_cycle_ = true;
  if (header.fault == RML_OK) {
    if (states_->may_wait()) waiting_.add(key_, rows_read_);
    program_.push(states_->block(), source_->row().const_pointers(), source_->row().present());
  }
  if (header.fault != RML_OK) throw fault();
  ++rows_read_;
  longest_segment_ = std::max(longest_segment_, header.longest_segment);
  drain();
  if (!save_to_.empty()) sum_up_row();
  if (needs_itself(header)) throw Failure(undetermined_text(program_, header) + " (key '" + key_text() + "')");
  save_if_due();
  return true;
}

bool KeyedRun::cycles() {
  if (!together_) return false;
  const std::uint32_t least = together_->least();
  std::uint32_t rows = source_->side_by_side();
  if (rows < least) return false;
  rows = std::min(rows, sinks_.room());
  if (options_.cycles) rows = at_most(rows, *options_.cycles - rows_of_run());
  rows = at_most(rows, save_times_.left(rows_of_run()));
  if (rows < least || interrupt_signal() != 0) return false;
  if (alone_ > 0) {
    --alone_;
    return false;
  }
  source_->point_at_rows(read_);
  sinks_.point_at_room(written_);
  const auto* const keys = static_cast<const std::uint32_t*>(read_.values[number_input_]);
  const std::uint32_t done = together_->compute(keys, rows, read_, written_);
  if (done == 0) {
    alone_ = least - 1;
    return false;
  }
  in_cycle_ = false;
  std::memcpy(written_.values[0], read_.values[key_input_], done * key_bytes_);
  pass(done);
  rows_read_ += done;
  rows_written_ += done;
  rows_in_lanes_ += done;
  sinks_.added(done);
  save_if_due();
  return true;
}

void KeyedRun::pass(std::uint32_t rows) {
  if (save_to_.empty()) return source_->pass(rows);
  for (; rows > 0 && source_->read(); --rows) sum_up_row();
}

void KeyedRun::sum_up_row() {
  record_.input_checksum = source_->row().checksum(record_.input_checksum, key_input_ + 1);
}

Failure KeyedRun::fault() const {
  const std::string text =
      fault_text(program_, states_->header(), [this](std::uint32_t input) { return source_->place(input); });
  return Failure(text + " (key '" + key_text() + "')");
}

void KeyedRun::show_key(std::uint32_t key) {
  if (key == shown_key_) return;
  shown_key_ = key;
  if (column_.is_text)
    std::memcpy(out_.data(0), &key, sizeof key);
  else
    keys_.put(key, out_.data(0));
}

void KeyedRun::drain() {
  const rml_header& header = states_->header();
  while (header.popped < header.pushed && program_.pop(states_->block(), out_.pointers() + 1, out_.present() + 1) == 1)
    write_row();
}

void KeyedRun::write_row() {
  show_key(key_);
  out_.set_always_present();
  if (states_->may_wait()) {
    if (kept_.any()) kept_.leave(*waiting_.first(key_));
    waiting_.take(key_);
  }
  ++rows_written_;
  sinks_.write();
}

void KeyedRun::finish() {
  if (!states_->may_wait()) return;
  for (std::uint32_t key = 0; key < states_->size(); ++key) {
    if (!waiting_.first(key)) continue;
    states_->enter(key_ = key);
    if (program_.finish(states_->block()) != RML_OK) throw fault();
  }
  write_waiting_rows();
}

void KeyedRun::write_waiting_rows() {
  waiting_.in_order([this](std::uint32_t key) {
    const rml_header& header = states_->enter(key_ = key);
    if (program_.pop(states_->block(), out_.pointers() + 1, out_.present() + 1) == 1) {
      write_row();
      return true;
    }
    if (undetermined_keys_++ == 0) {
      first_undetermined_ = key;
      undetermined_reason_ = undetermined_text(program_, header);
    }
    undetermined_ += header.pushed - header.popped;
    return false;
  });
  if (undetermined_ == 0) return;
  sinks_.catch_up();
  for (const auto& sink : sinks_.sinks()) sink->undetermined(undetermined_);
}

void KeyedRun::tell_undetermined() const {
  if (undetermined_ == 0 || options_.quiet) return;
  std::string text = "key '" + readable(keys_.text(first_undetermined_)) + "': " + undetermined_reason_;
  if (undetermined_keys_ > 1)
    text += "\nin all, " + std::to_string(undetermined_) + " rows of " + std::to_string(undetermined_keys_) +
            " keys are undetermined";
  std::fprintf(stderr, "%s\n", readable_message(text).c_str());
}

void KeyedRun::tell_statistics(Clock::time_point start) const {
  if (states_) print_bad_rows(options_, bad_rows_);
  if (states_) print_missed_ticks(options_, missed_ticks_.load());
  if (!options_.stats || !states_) return;
  rml_header all{};
  all.pushed = rows_read_;
  all.popped = rows_written_;
  all.longest_segment = longest_segment_;
  print_statistics(program_, all, {std::chrono::duration<double>(Clock::now() - start).count(), rows_read_, 0});
  std::fprintf(stderr, "keys             %u\nof each          %" PRIu64 " bytes\nof all           %" PRIu64 " bytes\n",
               states_->size(), states_->record_bytes(), memory_.used());
  if (together_) std::fprintf(stderr, "rows in lanes    %" PRId64 "\n", rows_in_lanes_);
}

double KeyedRun::fraction() const {
  if (!progress_.enabled()) return -1;
  const double of_input = source_->fraction();
  if (!options_.cycles || *options_.cycles == 0) return of_input;
  return std::max(of_input, static_cast<double>(rows_read_) / static_cast<double>(*options_.cycles));
}

}  // namespace

int run_keyed(const rml_program& program, const Options& options) { return KeyedRun(program, options).execute(); }

}  // namespace rml::rt
