// One pass over the rows of the input, in the order of the files or in the order of an epoch.
//
// A pass also computes the inputs that no file provides: the end of a group of rows
// (--segments-by) and the end of the input (--last). It is a source of the program's rows, made of
// a source of the files' rows, which have the same ports at the same indices; a column of groups
// may follow them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/epochs/groups.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

struct ComputedInputs {
  std::optional<std::uint32_t> end;   // input that is true in the last row of a group
  std::optional<std::uint32_t> last;  // input that is true in the last row of the input
  bool any() const { return end || last; }
};

// Copies the values of the program's inputs from a row of the files, which may have more ports.
// `places` receives the position of each port that may be absent.
void copy_row(const Row& from, Row& to, const RowSource& source, std::vector<Place>& places);
void set_flag(Row& row, std::uint32_t port, bool value);

// Rows in the order of the files. Each row is shown after the next one was read.
class PassInOrder final : public RowSource {
 public:
  // source fills `files`; this source fills `row`. groups: null without --segments-by.
  PassInOrder(std::unique_ptr<RowSource> source, const Row& files, Row& row, ComputedInputs computed, Groups* groups);

  bool read() override;
  Place where(std::uint32_t port) const override { return port < places_.size() ? places_[port] : Place{}; }
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override { return source_->fraction(); }
  const std::string& name() const override { return source_->name(); }

 private:
  void read_next();

  const std::unique_ptr<RowSource> source_;
  const Row& files_;
  Row& row_;
  const ComputedInputs computed_;
  Groups* const groups_;
  bool begun_ = false;
  bool has_next_ = false;
  bool next_begins_group_ = false;
  std::vector<Place> places_;
};

// The segments of the input: where each one begins, and how many rows it has.
class Segments {
 public:
  // Reads the whole source, whose rows are in `files`. A segment ends with a group, or, without
  // groups, where the input `flag` is true; without both, each row is a segment. Throws Failure if
  // the source cannot go back, or if the last row does not end a segment.
  Segments(RowSource& source, const Row& files, Groups* groups, std::optional<std::uint32_t> flag);

  std::size_t count() const { return rows_.size(); }
  std::int64_t total_rows() const { return total_; }
  std::int64_t rows(std::size_t segment) const { return rows_[segment]; }
  void go_to(RowSource& source, std::size_t segment) const { source.go_to(&marks_[segment * files_of_segment_]); }

 private:
  std::vector<Mark> marks_;         // by segment, then by file
  std::vector<std::int64_t> rows_;  // by segment
  std::size_t files_of_segment_ = 0;
  std::int64_t total_ = 0;
};

// The order of `count` segments in an epoch, numbered from 1: a permutation drawn from the seed.
std::vector<std::uint64_t> order_of_epoch(std::uint64_t count, std::uint64_t seed, std::int64_t epoch);

// Rows of whole segments in a given order. It goes back and forth in one source.
class PassInNewOrder final : public RowSource {
 public:
  // The order contains each segment once.
  PassInNewOrder(RowSource& source, const Row& files, Row& row, ComputedInputs computed, const Segments& segments,
                 std::vector<std::uint64_t> order);

  bool read() override;
  Place where(std::uint32_t port) const override { return port < places_.size() ? places_[port] : Place{}; }
  const std::string& file(std::uint32_t port) const override { return source_.file(port); }
  double fraction() const override;
  const std::string& name() const override { return source_.name(); }

 private:
  RowSource& source_;
  const Row& files_;
  Row& row_;
  const ComputedInputs computed_;
  const Segments& segments_;
  const std::vector<std::uint64_t> order_;
  std::size_t next_ = 0;   // index in order_ of the next segment
  std::int64_t left_ = 0;  // rows of the current segment that were not read yet
  std::int64_t read_ = 0;
  std::vector<Place> places_;
};

}  // namespace rml::rt
