// Rows of this rank are copied while a step is read, and shown one by one afterwards.
#include "runtime/ranks/deal.h"

#include <cstring>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/pipeline/skip_rows.h"

namespace rml::rt {

DealtRows::DealtRows(std::unique_ptr<RowSource> source, Row& row, const rml_program& program, Ranks& ranks,
                     std::optional<std::int64_t> limit)
    : source_(std::move(source)), row_(row), program_(program), ranks_(ranks), limit_(limit) {}

bool DealtRows::ends() const {
  const std::uint32_t end = program_.deal_end;
  return (program_.inputs[end].always != 0 || row_.is_present(end)) && *static_cast<const bool*>(row_.data(end));
}

bool DealtRows::read_row() {
  if ((limit_ && read_ - before_ >= *limit_) || !source_->read()) return false;
  ++read_;
  checksum_ = row_.checksum(checksum_);
  return true;
}

void DealtRows::keep(std::uint64_t micro_batch) {
  if (rows_ == kept_.size()) kept_.push_back(std::make_unique<Kept>(row_, program_.inputs));
  Kept& kept = *kept_[rows_++];
  kept.row = read_ - 1;
  kept.micro_batch = micro_batch;
  kept.places.resize(row_.size());
  for (std::uint32_t i = 0; i < row_.size(); ++i) {
    const rml_port& port = row_.port(i);
    kept.values.set_present(i, row_.is_present(i));
    if (port.always != 0 || row_.is_present(i))
      std::memcpy(kept.values.data(i), row_.data(i), port.elements * dtype_bytes(port.dtype));
    if (port.always == 0) kept.places[i] = source_->where(i);
  }
}

void DealtRows::show(const Kept& kept) {
  for (std::uint32_t i = 0; i < row_.size(); ++i) {
    const rml_port& port = row_.port(i);
    row_.set_present(i, kept.values.is_present(i));
    if (port.always != 0 || row_.is_present(i))
      std::memcpy(row_.data(i), kept.values.data(i), port.elements * dtype_bytes(port.dtype));
  }
}

void DealtRows::read_step() {
  Transport& transport = ranks_.transport();
  micro_batches_ += std::exchange(in_step_, 0);
  rows_ = shown_ = 0;
  step_begin_ = read_;
  while (in_step_ < program_.per_step) {
    if (!read_row()) {
      over_ = true;
      return;
    }
    if (in_step_ % transport.ranks() == transport.rank()) keep(micro_batches_ + in_step_);
    open_ = !ends();
    if (!open_) ++in_step_;
  }
}

bool DealtRows::read() {
  while (shown_ == rows_) {
    if (over_ || ranks_.stops()) return false;
    read_step();
  }
  const Kept& kept = *kept_[shown_++];
  show(kept);
  ranks_.set_position({kept.row, kept.micro_batch, in_step_});
  return true;
}

Place DealtRows::where(std::uint32_t port) const { return shown_ == 0 ? Place{} : kept_[shown_ - 1]->places[port]; }

bool DealtRows::step_passes(std::int64_t every) {
  if (every <= 0 || shown_ != rows_) return false;
  return std::exchange(passed_, read_) / every != read_ / every;
}

void DealtRows::record(RunRecord& run) const {
  const bool whole = !cut_ && (in_step_ == program_.per_step || read_ == step_begin_);
  run.dealt = RunRecord::Dealt{micro_batches_ + in_step_, read_, whole, open_};
  run.input_checksum = checksum_;
}

void DealtRows::go_on(const RunRecord& saved, bool resumes, const std::string& path) {
  if (!saved.dealt)
    throw Failure("'" + path + "' was saved by a program without dealt rows, so it does not contain the number of " +
                  "micro-batches that were read");
  micro_batches_ = saved.dealt->micro_batches;
  read_ = saved.dealt->rows;
  if (resumes) {
    skip_rows(*source_, row_, row_.size(), read_, saved.input_checksum, path);
    checksum_ = saved.input_checksum;
    open_ = saved.dealt->open;
    cut_ = !saved.dealt->whole;
    if (cut_ && source_->read())
      throw Failure("'" + path +
                    "' was saved when the input ended in the middle of a step, but there are more rows in " +
                    source_->name() + " now; to continue with them as a separate step, use --load");
  } else {
    if (saved.dealt->open)
      throw Failure("'" + path +
                    "' was saved when the input ended in the middle of a micro-batch, whose rows only one " +
                    "rank had; to start with the learned parameters, use --load-params");
    // A step that the end of the input cut short counts as a whole one; numbering continues with the next step.
    const std::uint64_t per_step = program_.per_step;
    micro_batches_ = (micro_batches_ + per_step - 1) / per_step * per_step;
    before_ = read_;
  }
  passed_ = step_begin_ = read_;
}

}  // namespace rml::rt
