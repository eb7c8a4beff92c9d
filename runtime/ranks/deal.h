// The rows of one rank: whole micro-batches are dealt out, in order, to rank after rank.
//
// A micro-batch is the rows up to and including one where the input `deal_end` is true. With per_step of them a step is
// full; micro-batch k of a step belongs to rank k mod R. Every rank reads all rows, a step ahead: what the last step
// has, and so the tree of its sums, is known before the first row of it is used. Rows behind the last end belong to no
// micro-batch and are in no sum; they go to the rank whose turn it is. A rank that has none of a step goes on to the
// next.
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
  // source fills `row`; the program deals its inputs out. limit: rows that are read, of all ranks.
  DealtRows(std::unique_ptr<RowSource> source, Row& row, const rml_program& program, Ranks& ranks,
            std::optional<std::int64_t> limit);

  // The next row of this rank. A run that was interrupted ends between two steps, which are the same on all ranks.
  bool read() override;
  Place where(std::uint32_t port) const override;
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override { return source_->fraction(); }
  const std::string& name() const override { return source_->name(); }

  // Behind a step, if its last row here was read last: whether in it the count of rows of all ranks has passed a
  // multiple of `every`, for the first time.
  bool step_passes(std::int64_t every);
  // How far all ranks have come with the step of the row that was read last.
  void record(RunRecord& run) const;
  // Goes on behind the step that was saved to the file `path`; resumes: the same input is read again from its
  // beginning.
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
  std::vector<std::unique_ptr<Kept>> kept_;  // of the step, as many as `rows_`; then such as will be used again
  std::size_t rows_ = 0, shown_ = 0;
  std::uint32_t in_step_ = 0;
  std::int64_t read_ = 0;            // of all ranks, with this step
  std::int64_t step_begin_ = 0;      // … without it
  std::int64_t before_ = 0;          // … before this run
  std::int64_t passed_ = 0;          // … when step_passes said so last
  std::uint64_t micro_batches_ = 0;  // likewise, before this step
  std::uint32_t checksum_ = 0;
  bool over_ = false;  // the input
  bool open_ = false;  // the row that was read last ends no micro-batch
  bool cut_ = false;   // the run that this one goes on with had come to the end within a step
};

}  // namespace rml::rt
