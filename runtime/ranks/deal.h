// The rows of one rank. Whole micro-batches are dealt out to the ranks, in order.
//
// A micro-batch consists of the rows up to and including one in which the input `deal_end` is
// true. A step is full when it has per_step of them, and micro-batch k of a step belongs to rank
// k mod R. Every rank reads all rows, one step ahead. So the number of micro-batches in the last
// step, and the tree of its sums, is known before its first row is used. Rows after the last end
// belong to no micro-batch and enter no sum; the rank whose turn it is computes them. A rank
// without a micro-batch in a step continues with the next step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/ranks/ranks.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

inline bool deals_rows(const rml_program& program) {
  return program.per_step > 0 && program.deal_end != RML_DEALS_NOTHING;
}

class DealtRows final : public RowSource {
 public:
  // source fills `row`. program: deals out its inputs. limit: maximum number of rows to read, for
  // all ranks together.
  DealtRows(std::unique_ptr<RowSource> source, Row& row, const rml_program& program, Ranks& ranks,
            std::optional<std::int64_t> limit);

  // Reads the next row of this rank. An interrupted run ends between two steps, after the same
  // step on all ranks.
  bool read() override;
  Place where(std::uint32_t port) const override;
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override { return source_->fraction(); }
  const std::string& name() const override { return source_->name(); }

  // Call it after each row. True if that row was the last one of this rank in its step, and the
  // number of rows of all ranks has passed a multiple of `every` in this step.
  bool step_passes(std::int64_t every);
  // Records the progress of all ranks, including the step of the row that was read last.
  void record(RunRecord& run) const;
  // Continues after the step that was saved to the file `path`. resumes: the same input is read
  // again from its beginning.
  void go_on(const RunRecord& saved, bool resumes, const std::string& path);

 private:
  struct Kept {
    explicit Kept(const Row& like, const rml_port* ports) : values(ports, like.size()) {}
    Row values;
    std::vector<Place> places;
    std::int64_t row = 0;
    std::uint64_t micro_batch = 0;
  };
  bool read_row();
  void read_step();
  void keep(std::uint64_t micro_batch);
  void show(const Kept& kept);
  bool ends() const;

  const std::unique_ptr<RowSource> source_;
  Row& row_;
  const rml_program& program_;
  Ranks& ranks_;
  const std::optional<std::int64_t> limit_;
  // the first `rows_` hold rows of the step; the others are reused later
  std::vector<std::unique_ptr<Kept>> kept_;
  std::size_t rows_ = 0, shown_ = 0;
  std::uint32_t in_step_ = 0;
  std::int64_t read_ = 0;            // number of rows of all ranks, including this step
  std::int64_t step_begin_ = 0;      // `read_` before this step
  std::int64_t before_ = 0;          // `read_` before this run
  std::int64_t passed_ = 0;          // `read_` when step_passes last returned true
  std::uint64_t micro_batches_ = 0;  // number of micro-batches of all ranks before this step
  std::uint32_t checksum_ = 0;
  bool over_ = false;  // true if the input has ended
  bool open_ = false;  // the row that was read last did not end a micro-batch
  bool cut_ = false;   // the resumed run had reached the end of the input within a step
};

}  // namespace rml::rt
