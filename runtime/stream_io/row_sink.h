// Where rows go: the interface of every writer.
//
// A sink is made for some of the ports of one Row. write takes the row's current values;
// nothing is promised to be outside the process before flush (formats that need the whole
// run, chronograms and .npz, write at close). close reports what could not be written; a sink
// destroyed without close has lost data only because another error came first.
#pragma once

#include <cstdint>

namespace rml::rt {

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void write() = 0;
  // The run ended with this many further cycles whose rows are undetermined.
  virtual void undetermined(std::int64_t rows) = 0;
  virtual void flush() = 0;
  virtual void close() = 0;
};

}  // namespace rml::rt
