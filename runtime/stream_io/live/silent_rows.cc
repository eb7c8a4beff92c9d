// A reader waits only in `read`, and can be called again after Silence.
#include "runtime/stream_io/live/silent_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/stream_io/bad_rows.h"
#include "runtime/stream_io/missing_cells.h"

namespace rml::rt {
namespace {

class SilentRows final : public RowSource {
 public:
  SilentRows(std::unique_ptr<RowSource> source, Row& row, Silent silent, std::unique_ptr<Deadline> deadline)
      : row_(row), silent_(std::move(silent)), deadline_(std::move(deadline)), source_(std::move(source)) {
    for (const std::uint32_t port : silent_.ports)
      if (row.port(port).always) flags_.add(row, port, silent_.ports);
  }

  bool read() override {
    deadline_->set(end_of_wait());
    nothing_ = false;
    try {
      const bool more = source_->read();
      begin_period();
      show(false);
      return more;
    } catch (const Silence&) {
      nothing_ = true;
    } catch (const BadRow&) {
      begin_period();
      throw;
    }
    begin_period();
    source_->read_nothing();
    for (const std::uint32_t port : silent_.ports) row_.set_present(port, false);
    flags_.settle(row_);
    show(true);
    return true;
  }
  void drop() override { source_->drop(); }
  std::string_view text() const override { return nothing_ ? std::string_view() : source_->text(); }
  Place where(std::uint32_t port) const override { return nothing_ ? Place() : source_->where(port); }
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override { return source_->fraction(); }
  const std::string& name() const override { return source_->name(); }

 private:
  Time::time_point end_of_wait() {
    if (silent_.timeout.count() > 0) {
      if (!begin_) begin_period();
      return *begin_ + silent_.timeout;
    }
    Time::time_point next = silent_.ticks.front()->next();
    for (const auto& ticks : silent_.ticks) next = std::min(next, ticks->next());
    return next;
  }
  void begin_period() { begin_ = Time::now(); }
  void show(bool silent) {
    *static_cast<std::uint8_t*>(row_.data(silent_.port)) = silent ? 1 : 0;
    row_.set_present(silent_.port, true);
  }

  Row& row_;
  const Silent silent_;
  DerivedFlags flags_;
  std::optional<Time::time_point> begin_;  // of the period; none before the first read
  bool nothing_ = false;                   // no row came in the last cycle
  const std::unique_ptr<Deadline> deadline_;
  const std::unique_ptr<RowSource> source_;  // uses the deadline
};

}  // namespace

std::unique_ptr<RowSource> silent_rows(std::unique_ptr<RowSource> source, Row& row, Silent silent,
                                       std::unique_ptr<Deadline> deadline) {
  return std::make_unique<SilentRows>(std::move(source), row, std::move(silent), std::move(deadline));
}

}  // namespace rml::rt
