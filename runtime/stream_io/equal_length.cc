// Reads several sources in step, as one source.
//
// All streams of a program have the same length. If one input file ends before another, this is
// reported as an error at the first cycle that only one of them has.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/readers.h"

namespace rml::rt {
namespace {

class EqualLength final : public RowSource {
 public:
  EqualLength(std::vector<std::unique_ptr<RowSource>> sources, std::vector<Ports> ports)
      : sources_(std::move(sources)), ports_(std::move(ports)) {}

  bool read() override {
    const RowSource* ended = nullptr;
    const RowSource* going_on = nullptr;
    for (const auto& source : sources_) (source->read() ? going_on : ended) = source.get();
    if (ended && going_on) {
      throw Failure(ended->name() + " ends after " + std::to_string(cycles_) + (cycles_ == 1 ? " row" : " rows") +
                    ", but " + going_on->name() + " continues at cycle " + std::to_string(cycles_) +
                    ": input files must have equally many rows");
    }
    if (going_on) ++cycles_;
    return going_on != nullptr;
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

 private:
  const RowSource& source_of(std::uint32_t port) const {
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      for (const std::uint32_t i : ports_[s]) {
        if (i == port) return *sources_[s];
      }
    }
    return *sources_.front();
  }

  std::vector<std::unique_ptr<RowSource>> sources_;
  std::vector<Ports> ports_;
  std::int64_t cycles_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> equal_length(std::vector<std::unique_ptr<RowSource>> sources, std::vector<Ports> ports) {
  if (sources.size() == 1) return std::move(sources.front());
  return std::make_unique<EqualLength>(std::move(sources), std::move(ports));
}

}  // namespace rml::rt
