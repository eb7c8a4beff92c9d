// The rows of the inputs of a run: its files, their order, and the inputs that the run computes.
//
// Without options of training, the files fill the row of the program directly, once. Otherwise a
// source of several passes copies each row of the files into that row.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/key_table.h"
#include "runtime/base/memory.h"
#include "runtime/epochs/groups.h"
#include "runtime/epochs/pass.h"
#include "runtime/options/options.h"
#include "runtime/stream_io/bad_rows.h"
#include "runtime/stream_io/bytes/waiting.h"
#include "runtime/stream_io/endpoints/endpoint.h"

namespace rml::rt {

// Which inputs the run computes, and from which column.
struct SegmentOptions {
  ComputedInputs computed;
  std::string column;  // of groups; empty: none
};
// Throws Failure with status 2 for names that the program does not have.
SegmentOptions segment_options(const rml_program& program, const TrainingOptions& training);
// The input that ends segments, as far as the program shows it; nothing if it has no segments.
std::optional<std::uint32_t> segment_end(const rml_program& program);

class InputRows {
 public:
  // arguments: those of --input or --validate. training: how often and in which order to read.
  // outputs: a list of classes may belong to them.
  InputRows(const rml_program& program, const Options& options, const std::vector<std::string>& arguments,
            TrainingOptions training, const Row& outputs);
  InputRows(const InputRows&) = delete;
  InputRows& operator=(const InputRows&) = delete;

  // The row that files fill.
  Row& of_files() { return files_; }
  // The row of the program, which the opened source fills.
  Row& row() { return row_ ? *row_ : files_; }
  ColumnTexts& texts() { return texts_; }
  std::vector<Endpoint>& endpoints() { return endpoints_; }
  const std::vector<Endpoint>& endpoints() const { return endpoints_; }

  // The source of all rows, in all passes. Null if there are no inputs. skipped: receives rows that are not valid;
  // null: the first of them is a failure. Throws Failure with status 2 for skipped rows of several passes.
  std::unique_ptr<RowSource> open(const Waiting& waiting, BadRows* skipped = nullptr);
  // The number of rows in a pass, if one has been read completely; otherwise -1.
  std::int64_t rows_of_pass() const { return rows_of_pass_.load(); }

 private:
  friend class EpochRows;
  bool direct() const { return !segments_.computed.any() && training_.rereads().empty(); }
  void refuse_inputs() const;
  std::optional<std::uint32_t> flag_of_segments() const;

  const rml_program& program_;
  const TrainingOptions training_;
  const SegmentOptions segments_;
  const std::uint64_t seed_;
  std::vector<rml_port> ports_;  // of files: those of the program, then the column of groups
  Row files_;
  std::optional<Row> row_;  // none: that of files
  ColumnTexts texts_;
  Memory memory_;
  KeyTable table_;
  std::optional<Groups> groups_;
  std::vector<Endpoint> endpoints_;
  std::atomic<std::int64_t> rows_of_pass_{-1};
};

}  // namespace rml::rt
