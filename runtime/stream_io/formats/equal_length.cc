// Reads several sources in step, as one source.
//
// All streams of a program have the same length. If one input file ends before another, this is
// reported as an error at the first cycle that only one of them has.
//
// Rows that are not valid are skipped here, where the rows of a cycle are known. A value that
// contradicts the flag of its clock makes a row invalid as well, if the flag is an input: the
// program would stop at it in the middle of a cycle.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/readers.h"
#include "runtime/stream_io/missing_cells.h"

namespace rml::rt {
namespace {

class EqualLength : public RowSource {
 public:
  EqualLength(std::vector<std::unique_ptr<RowSource>> sources, std::vector<Ports> ports)
      : sources_(std::move(sources)), ports_(std::move(ports)) {}

  bool read() override {
    const RowSource* ended = nullptr;
    const RowSource* going_on = nullptr;
    for (const auto& source : sources_) (source->read() ? going_on : ended) = source.get();
    return read_of(ended, going_on);
  }

  std::uint32_t rows_at_hand(std::uint32_t most) override {
    for (const auto& source : sources_)
      if (most > 0) most = source->rows_at_hand(most);
    return most;
  }
  void take_rows(std::uint32_t rows, char* const* to) override {
    for (const auto& source : sources_) source->take_rows(rows, to);
    cycles_ += rows;
  }

  Place where(std::uint32_t port) const override { return source_of(port).where(port); }
  const std::string& file(std::uint32_t port) const override { return source_of(port).file(port); }

  double fraction() const override {
    double known = -1;
    for (const auto& source : sources_) {
      if (source->fraction() > known) known = source->fraction();
    }
    return known;
  }

  const std::string& name() const override { return sources_.front()->name(); }
  bool can_go_back() const override {
    return std::all_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->can_go_back(); });
  }
  void mark(std::vector<Mark>& marks) const override {
    for (const auto& source : sources_) source->mark(marks);
  }
  const Mark* go_to(const Mark* marks) override {
    cycles_ = marks->row;
    for (const auto& source : sources_) marks = source->go_to(marks);
    return marks;
  }

 protected:
  const std::vector<std::unique_ptr<RowSource>>& sources() const { return sources_; }
  std::int64_t cycles() const { return cycles_; }
  const RowSource& source_of(std::uint32_t port) const {
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      for (const std::uint32_t i : ports_[s]) {
        if (i == port) return *sources_[s];
      }
    }
    return *sources_.front();
  }
  // Notes the end of a read. ended, going_on: a source without and one with a further row, which is endless only if all
  // such sources are: they come first.
  bool read_of(const RowSource* ended, const RowSource* going_on) {
    if (ended && going_on && going_on->endless()) return false;
    if (ended && going_on) {
      throw Failure(ended->name() + " ends after " + std::to_string(cycles_) + (cycles_ == 1 ? " row" : " rows") +
                    ", but " + going_on->name() + " continues at cycle " + std::to_string(cycles_) +
                    ": input files must have equally many rows");
    }
    if (going_on) ++cycles_;
    return going_on != nullptr;
  }

 private:
  std::vector<std::unique_ptr<RowSource>> sources_;
  std::vector<Ports> ports_;
  std::int64_t cycles_ = 0;
};

// Reads the rows of the next cycle that are all valid.
class ValidRows final : public EqualLength {
 public:
  ValidRows(std::vector<std::unique_ptr<RowSource>> sources, std::vector<Ports> ports, const Row& row, BadRows& skipped)
      : EqualLength(std::move(sources), std::move(ports)), row_(row), skipped_(skipped) {
    for (std::uint32_t i = 0; i < row.size(); ++i)
      if (const auto sampler = sampler_of(row, i)) sampled_.emplace_back(i, *sampler);
  }

  bool read() override {
    while (true) {
      const RowSource* ended = nullptr;
      const RowSource* going_on = nullptr;
      bad_ = 0;
      skipped_.begin_row();
      valid_.assign(sources().size(), false);
      for (std::size_t s = 0; s < sources().size(); ++s) (read_one(s) ? going_on : ended) = sources()[s].get();
      if (ended == nullptr && bad_ == 0) refuse_against_clocks();
      if (bad_ == 0 || (ended && going_on)) return read_of(ended, going_on);
      for (std::size_t s = 0; s < sources().size(); ++s)
        if (valid_[s]) sources()[s]->drop();
      skipped_.drop_row();
    }
  }

 private:
  // True if the source is not at its end.
  bool read_one(std::size_t s) {
    try {
      return valid_[s] = sources()[s]->read();
    } catch (const BadRow& row) {
      refuse(row);
      return true;
    }
  }
  void refuse(const BadRow& row) {
    ++bad_;
    skipped_.add(row, cycles());
  }
  void refuse_against_clocks() {
    for (const auto& [port, sampler] : sampled_) {
      if (!row_.is_present(sampler.flag)) continue;
      const bool due = (*static_cast<const std::uint8_t*>(row_.data(sampler.flag)) != 0) == sampler.positive;
      if (due == row_.is_present(port)) continue;
      const std::string text = std::string("column '") + row_.port(port).name + "' " +
                               (due ? "is empty, but its clock (" : "has a value, but its clock (") +
                               row_.port(port).clock + ") says that it is " + (due ? "present" : "absent") +
                               " at this cycle";
      const RowSource& source = source_of(port);
      return refuse(BadRow(source.place(port) + ": cycle " + std::to_string(cycles()) + ": " + text, source.text()));
    }
  }

  const Row& row_;
  BadRows& skipped_;
  std::vector<std::pair<std::uint32_t, Sampler>> sampled_;
  std::vector<bool> valid_;  // by source: it has read a valid row of this cycle
  int bad_ = 0;              // number of invalid rows of this cycle
};

}  // namespace

std::unique_ptr<RowSource> equal_length(std::vector<std::unique_ptr<RowSource>> sources, std::vector<Ports> ports,
                                        const Row& row, BadRows* skipped) {
  if (skipped != nullptr) return std::make_unique<ValidRows>(std::move(sources), std::move(ports), row, *skipped);
  if (sources.size() == 1) return std::move(sources.front());
  return std::make_unique<EqualLength>(std::move(sources), std::move(ports));
}

}  // namespace rml::rt
