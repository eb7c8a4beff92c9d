// The interface of all writers of rows.
//
// A sink is made for some ports of one Row. write takes the current values of the row. Nothing
// needs to leave the process before flush; formats that need the whole run (chronograms and .npz)
// write at close. close reports what could not be written. A sink is destroyed without close only
// after another error. If settle returns a length, a later run can continue the file.
#pragma once

#include <cstdint>
#include <optional>

namespace rml::rt {

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void write() = 0;
  // Passes over a row that is not written.
  virtual void skip() {}
  // early: rows written from now on belong to a cycle that may never come. A peer that closes the
  // connection, or is not reachable, is then not an error. False ends this.
  virtual void set_early(bool) {}
  // The run ended with this many further cycles whose rows are undetermined.
  virtual void undetermined(std::int64_t rows) = 0;
  virtual void flush() = 0;
  // Brings all written rows to the disk and returns the length of the file, to which it may be
  // cut later. None for formats that are written at close, and for files that are not regular.
  virtual std::optional<std::uint64_t> settle() = 0;
  virtual void close() = 0;
};

// What an earlier run had settled of a file.
struct Settled {
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
};

}  // namespace rml::rt
