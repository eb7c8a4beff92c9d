// A pass in order reads one row ahead, because only the next row shows that a group has ended. A
// pass in a new order knows the length of each segment from the index.
#include "runtime/epochs/pass.h"

#include <cstring>
#include <numeric>
#include <utility>

#include "runtime/base/failure.h"

namespace rml::rt {
namespace {

// The generator SplitMix64. Its numbers are the same on every machine, and in Python
// (rmlc.training.order_of_epoch).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t state) : state_(state) {}
  std::uint64_t next() {
    state_ += step;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // A number below `bound`.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64);
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

bool is_true(const Row& row, std::uint32_t port) { return *static_cast<const std::uint8_t*>(row.data(port)) != 0; }

}  // namespace

void copy_row(const Row& from, Row& to, const RowSource& source, std::vector<Place>& places) {
  places.resize(to.size());
  for (std::uint32_t i = 0; i < to.size(); ++i) {
    const rml_port& port = to.port(i);
    const bool present = port.always != 0 || from.is_present(i);
    to.set_present(i, present);
    if (present) copy_value(to.data(i), from.data(i), port.elements * dtype_bytes(port.dtype));
    if (port.always == 0) places[i] = source.where(i);
  }
}

void set_flag(Row& row, std::uint32_t port, bool value) {
  *static_cast<std::uint8_t*>(row.data(port)) = value ? 1 : 0;
  row.set_present(port, true);
}

PassInOrder::PassInOrder(std::unique_ptr<RowSource> source, const Row& files, Row& row, ComputedInputs computed,
                         Groups* groups)
    : source_(std::move(source)), files_(files), row_(row), computed_(computed), groups_(groups) {
  if (groups_ != nullptr) groups_->restart();
}

void PassInOrder::read_next() {
  has_next_ = source_->read();
  next_begins_group_ = has_next_ && groups_ != nullptr && groups_->begins(*source_);
}

bool PassInOrder::read() {
  if (!std::exchange(begun_, true)) read_next();
  if (!has_next_) return false;
  copy_row(files_, row_, *source_, places_);
  read_next();
  if (computed_.end) set_flag(row_, *computed_.end, !has_next_ || next_begins_group_);
  if (computed_.last) set_flag(row_, *computed_.last, !has_next_);
  return true;
}

Segments::Segments(RowSource& source, const Row& files, Groups* groups, std::optional<std::uint32_t> flag) {
  if (!source.can_go_back())
    throw Failure("--shuffle: the rows of " + source.name() +
                      " can only be read in order; use CSV, JSON lines, .npy or an uncompressed .npz",
                  exit_usage);
  if (groups != nullptr) groups->restart();
  std::vector<Mark> marks;
  bool ended = true;
  while (true) {
    marks.clear();
    source.mark(marks);
    if (!source.read()) break;
    const bool begins = groups != nullptr ? groups->begins(source) : ended;
    ended = groups != nullptr || !flag || is_true(files, *flag);
    if (begins) {
      files_of_segment_ = marks.size();
      marks_.insert(marks_.end(), marks.begin(), marks.end());
      rows_.push_back(0);
    }
    ++rows_.back();
    ++total_;
  }
  if (!ended)
    throw Failure(source.name() + ": '" + files.port(*flag).name +
                  "' is false in the last row, so the last segment has no end: --shuffle would join it to another "
                  "segment; add its end, or give --segments-by COLUMN");
}

std::vector<std::uint64_t> order_of_epoch(std::uint64_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  SplitMix numbers(SplitMix(seed).next() + static_cast<std::uint64_t>(epoch));
  for (std::uint64_t k = count; k > 1; --k) std::swap(order[k - 1], order[numbers.below(k)]);
  return order;
}

PassInNewOrder::PassInNewOrder(RowSource& source, const Row& files, Row& row, ComputedInputs computed,
                               const Segments& segments, std::vector<std::uint64_t> order)
    : source_(source), files_(files), row_(row), computed_(computed), segments_(segments), order_(std::move(order)) {}

double PassInNewOrder::fraction() const {
  const std::int64_t total = segments_.total_rows();
  return total == 0 ? 1 : static_cast<double>(read_) / static_cast<double>(total);
}

bool PassInNewOrder::read() {
  if (left_ == 0) {
    if (next_ == order_.size()) return false;
    segments_.go_to(source_, order_[next_]);
    left_ = segments_.rows(order_[next_]);
    ++next_;
  }
  if (!source_.read()) throw Failure(source_.name() + ": it is shorter than when its segments were found");
  --left_;
  ++read_;
  copy_row(files_, row_, source_, places_);
  if (computed_.end) set_flag(row_, *computed_.end, left_ == 0);
  if (computed_.last) set_flag(row_, *computed_.last, left_ == 0 && next_ == order_.size());
  return true;
}

}  // namespace rml::rt
