// Rows of an input that are not valid. By default such a row ends the run; with --on-bad-row skip
// the run counts it, copies it to the file of --bad-rows, and continues with the next row.
//
// A reader reports such a row as a BadRow, and can read the next row afterwards. So a reader knows
// nothing about the option: equal_length, which reads all inputs in step, catches the BadRow and
// drops the rows of the other inputs that belong to the same cycle.
//
// The file receives each row before the next one is read, in whole lines: a row that does not fit
// on the disk is removed again, and the run stops between two cycles. A run that resumes reads the
// rows of its input again, so the file is cut to the bad rows among them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/base/key_table.h"
#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {

// A row that is not valid, as it came, without its line end.
class BadRow : public Failure {
 public:
  BadRow(const std::string& message, std::string_view row) : Failure(message), row_(row) {}
  const std::string& row() const { return row_; }

 private:
  std::string row_;
};

// The run cannot continue, but the failure is between two cycles: the state is whole, and is saved.
class StopBetweenCycles : public Failure {
 public:
  using Failure::Failure;
};

class BadRows {
 public:
  // file: receives the rows; empty: none does. tells: the first row is reported on stderr.
  BadRows(std::string file, bool tells);
  ~BadRows();
  BadRows(const BadRows&) = delete;
  BadRows& operator=(const BadRows&) = delete;

  // ---- for the thread that reads ----
  // good: number of valid rows before this one. Throws StopBetweenCycles if the file does not take
  // the row.
  void add(const BadRow& row, std::int64_t good);

  // A row begins, and is dropped: its key, if it was new, is forgotten.
  void begin_row() {
    if (keys_ != nullptr) known_keys_ = keys_->size();
  }
  void drop_row() {
    if (keys_ != nullptr) keys_->forget_texts(known_keys_);
  }

  // ---- for the thread of the run ----
  // The table that numbers the keys of the rows while they are read.
  void use_keys(KeyTable& keys) { keys_ = &keys; }
  enum class Beginning { anew, append, again };
  // Call it before the first row is read. again: the input begins with `rows` valid rows that an
  // earlier run has read, and the file has the bad rows among them.
  void begin(Beginning beginning, std::int64_t rows = 0);
  // Opens the file, when the inputs and the state are known to be right.
  void open();
  // Brings the rows to the disk.
  void settle();
  // The number of bad rows that this run has read. Any thread may ask.
  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }
  // "3 bad rows were skipped; the first: …"; empty if there were none.
  std::string summary() const;

 private:
  void put(std::string_view lines);
  [[noreturn]] void fail(std::string_view row) const;

  const std::string file_;
  const bool tells_;
  std::atomic<std::int64_t> count_{0};
  mutable std::mutex mutex_;
  Beginning beginning_ = Beginning::anew;
  std::int64_t rows_again_ = 0;  // good rows that an earlier run has read
  std::uint64_t end_ = 0;        // bytes of the file
  std::string waiting_;          // lines that came before the file was open
  int fd_ = -1;
  KeyTable* keys_ = nullptr;  // null: rows have no texts as keys
  std::uint32_t known_keys_ = 0;
  std::string first_;  // message about the first bad row
};

}  // namespace rml::rt
