// Opens all inputs before the first is read, because reading a header may wait. In a cycle, an input whose rows may be
// absent is read before timers, which end its wait. Timers are read before all other inputs, so that a row that a peer
// has sent is not taken before the tick of its cycle.
//
// An output that continues a file begins at the end of the file's last whole row (old_rows.h).
#include "runtime/stream_io/endpoints/open_endpoints.h"

#include <algorithm>
#include <utility>

#include "runtime/stream_io/endpoints/old_rows.h"
#include "runtime/stream_io/endpoints/present_rows.h"
#include "runtime/stream_io/formats/table_file.h"
#include "runtime/stream_io/live/peer_streams.h"
#include "runtime/stream_io/live/pumped_input.h"
#include "runtime/stream_io/live/silent_rows.h"
#include "runtime/stream_io/live/timer_rows.h"

namespace rml::rt {
namespace {

// The columns of a table that are read: those of the ports, and those to be kept.
std::vector<TableColumn> columns_of_table(const Endpoint& input, const Row& row) {
  std::vector<TableColumn> columns;
  for (const std::uint32_t i : input.ports) {
    const rml_port& port = row.port(i);
    columns.emplace_back(port.name, std::vector<std::uint64_t>(port.dims, port.dims + port.rank));
  }
  if (input.kept != nullptr)
    for (const std::string& name : input.kept->names()) columns.emplace_back(name, std::vector<std::uint64_t>());
  return columns;
}

ByteSource open_bytes(const Endpoint& input, const Row& row, const Waiting& waiting) {
  if (is_timer(input)) return ByteSource::memory(input.path, {});
  if (input.peer) {
    auto bytes = peer_input(*input.peer, input.format == Format::csv);
    if (input.silence) bytes = pumped(std::move(bytes));
    return ByteSource::peer(input.path, std::move(bytes), static_cast<std::size_t>(input.peer->line), waiting);
  }
  if (input.table) return open_table(input.path, columns_of_table(input, row), waiting);
  const auto coding = input.gzip ? ByteSource::Coding::gzip : ByteSource::Coding::plain;
  return ByteSource::open(input.path, coding, waiting);
}

// Sets `before` to what the file then has; none if it has no bytes.
ByteSink open_sink_bytes(const Endpoint& output, const Row& row, std::optional<Settled>& before) {
  if (output.peer) {
    return ByteSink::peer(output.path, peer_output(*output.peer, output.format == Format::csv));
  }
  const bool appends = output.append && holds_bytes(output);
  if (!appends && before && before->bytes == 0) before.reset();
  if (!appends && !before) return ByteSink::open(output.path, output.gzip);
  const auto length = [&] {
    if (appends) before = whole_rows(output, row);
    return before->bytes;
  };
  ByteSink bytes = ByteSink::open_again(output.path, output.gzip, length);
  if (before->bytes == 0) before.reset();
  return bytes;
}

std::unique_ptr<RowSource> read_rows(const Endpoint& input, ByteSource bytes, Row& row) {
  const bool headed = !is_mqtt(input);
  const auto silent = input.silence ? std::optional(input.silence->port) : std::nullopt;
  switch (input.format) {
    case Format::csv:
      return read_csv(std::move(bytes), row, input.ports, {headed, input.reading, input.kept, input.texts, silent});
    case Format::jsonl:
      return read_jsonl(std::move(bytes), row, input.ports,
                        {input.texts, input.reading.missing, input.kept, !headed, silent});
    case Format::chron:
      return read_chron(std::move(bytes), row, input.ports, input.reading.missing);
    case Format::npy:
      return read_npy(std::move(bytes), row, input.ports[0]);
    case Format::npz:
      return read_npz(std::move(bytes), row, input.ports, input.kept);
  }
  return nullptr;
}

// An input whose bytes are open.
struct Opened {
  const Endpoint& input;
  std::unique_ptr<Deadline> deadline;  // null: its rows are awaited without limit
  std::shared_ptr<Ticks> ticks;        // of a timer
  std::optional<ByteSource> bytes;

  // The place in the order of reading.
  int rank() const {
    if (ticks) return 1;
    return input.silence && input.silence->timeout.count() == 0 ? 0 : 2;
  }
};

Opened open(const Endpoint& input, const Row& row, Waiting waiting) {
  Opened opened{input, nullptr, nullptr, std::nullopt};
  if (is_timer(input)) opened.ticks = std::make_shared<Ticks>(input.peer->period, waiting.missed_ticks);
  if (input.silence) opened.deadline = std::make_unique<Deadline>();
  waiting.deadline = opened.deadline.get();
  opened.bytes = open_bytes(input, row, waiting);
  return opened;
}

}  // namespace

std::unique_ptr<RowSource> open_sources(const std::vector<Endpoint>& inputs, Row& row, const Waiting& waiting,
                                        BadRows* skipped) {
  if (inputs.empty()) return nullptr;
  std::vector<Opened> all;
  std::vector<std::shared_ptr<Ticks>> ticks;
  for (const Endpoint& input : inputs) {
    all.push_back(open(input, row, waiting));
    if (all.back().ticks) ticks.push_back(all.back().ticks);
  }
  std::vector<Opened*> order;
  for (Opened& opened : all) order.push_back(&opened);
  std::ranges::stable_sort(order, {}, &Opened::rank);
  const bool timers_wait = order.front()->rank() > 0;
  std::vector<std::unique_ptr<RowSource>> sources;
  std::vector<Ports> ports;
  for (Opened* const opened : order) {
    const Endpoint& input = opened->input;
    ports.push_back(input.ports);
    std::unique_ptr<RowSource> source;
    if (opened->ticks)
      source = timer_rows(*input.peer, row, input.ports.front(), waiting, opened->ticks, timers_wait);
    else
      source = read_rows(input, std::move(*opened->bytes), row);
    if (input.silence) {
      ports.back().push_back(input.silence->port);
      source = silent_rows(std::move(source), row, {input.silence->port, input.silence->timeout, ticks, input.ports},
                           std::move(opened->deadline));
    }
    if (input.peer && !opened->ticks) source = with_cycles(std::move(source));
    sources.push_back(std::move(source));
  }
  for (const Endpoint& input : inputs)
    if (input.kept != nullptr) input.kept->require_found();
  return equal_length(std::move(sources), std::move(ports), row, skipped);
}

std::unique_ptr<RowSink> open_sink(const Endpoint& output, const Row& row, const std::optional<Settled>& settled) {
  const bool messages = is_mqtt(output);
  std::optional<Settled> before = settled;
  ByteSink bytes = open_sink_bytes(output, row, before);
  const auto as_told = [&](std::unique_ptr<RowSink> sink) -> std::unique_ptr<RowSink> {
    if (!output.present) return sink;
    return std::make_unique<PresentRows>(std::move(sink), row, sampled_ports(row, output.ports));
  };
  switch (output.format) {
    case Format::csv:
      return as_told(
          write_csv(std::move(bytes), row, output.ports, {before.has_value() || messages, output.kept, output.texts}));
    case Format::jsonl:
      return as_told(write_jsonl(std::move(bytes), row, output.ports, output.kept, output.texts));
    case Format::chron:
      return write_chron(std::move(bytes), row, output.ports);
    case Format::npy:
      if (before) before->rows = rows_of_npy(row.port(output.ports[0]), before->bytes, before->rows);
      return write_npy(std::move(bytes), row, output.ports[0], before);
    case Format::npz:
      return as_told(write_npz(std::move(bytes), row, output.ports, output.kept, output.texts));
  }
  return nullptr;
}

}  // namespace rml::rt
