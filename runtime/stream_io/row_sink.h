// Where rows go: the interface of every writer.
//
// A sink is made for some of the ports of one Row. write takes the row's current values;
// nothing is promised to be outside the process before flush (formats that need the whole
// run, chronograms and .npz, write at close). close reports what could not be written; a sink
// destroyed without close has lost data only because another error came first. A sink that settles
// is one whose file a later run can go on with.
#pragma once

#include <cstdint>
#include <optional>

namespace rml::rt {

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void write() = 0;
  // Whether what is written from here on is of a cycle that may never come: a peer that goes without it, or is not
  // there, is no fault then. False: it has come.
  virtual void set_early(bool) {}
  // The run ended with this many further cycles whose rows are undetermined.
  virtual void undetermined(std::int64_t rows) = 0;
  virtual void flush() = 0;
  // Brings everything written to the disk; the length of the file, which may be cut back to it. Nothing:
  // a format that is written at close, or no regular file.
  virtual std::optional<std::uint64_t> settle() = 0;
  virtual void close() = 0;
};

// What an earlier run had settled of a file.
struct Settled {
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
};

}  // namespace rml::rt
