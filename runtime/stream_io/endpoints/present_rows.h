// Writes only the rows in which a sampled value is present (?present).
//
// Alarms and other rare events leave most rows of a file without a value. With this sink, a row
// reaches the file only if at least one of the file's sampled ports is present.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_sink.h"

namespace rml::rt {

// The ports whose values may be absent.
inline Ports sampled_ports(const Row& row, const Ports& ports) {
  Ports sampled;
  std::ranges::copy_if(ports, std::back_inserter(sampled), [&](std::uint32_t i) { return row.port(i).always == 0; });
  return sampled;
}

class PresentRows final : public RowSink {
 public:
  // sink: a sink for ports of `row`. sampled: those ports that may be absent.
  PresentRows(std::unique_ptr<RowSink> sink, const Row& row, Ports sampled)
      : sink_(std::move(sink)), row_(row), sampled_(std::move(sampled)) {}

  void write() override {
    for (const std::uint32_t i : sampled_)
      if (row_.is_present(i)) return sink_->write();
    sink_->skip();
  }
  void skip() override { sink_->skip(); }
  void set_early(bool early) override { sink_->set_early(early); }
  void undetermined(std::int64_t rows) override { sink_->undetermined(rows); }
  void flush() override { sink_->flush(); }
  std::optional<std::uint64_t> settle() override { return sink_->settle(); }
  void close() override { sink_->close(); }

 private:
  const std::unique_ptr<RowSink> sink_;
  const Row& row_;
  const Ports sampled_;
};

}  // namespace rml::rt
