// An output that continues a file begins at the end of the file's last whole row (old_rows.h).
#include "runtime/stream_io/endpoints/open_endpoints.h"

#include <utility>

#include "runtime/stream_io/endpoints/old_rows.h"
#include "runtime/stream_io/endpoints/present_rows.h"
#include "runtime/stream_io/formats/table_file.h"
#include "runtime/stream_io/live/peer_streams.h"
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
    return ByteSource::peer(input.path, peer_input(*input.peer, input.format == Format::csv),
                            static_cast<std::size_t>(input.peer->line), waiting);
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
  switch (input.format) {
    case Format::csv:
      return read_csv(std::move(bytes), row, input.ports, {headed, input.reading, input.kept, input.texts});
    case Format::jsonl:
      return read_jsonl(std::move(bytes), row, input.ports, {input.texts, input.reading.missing, input.kept, !headed});
    case Format::chron:
      return read_chron(std::move(bytes), row, input.ports, input.reading.missing);
    case Format::npy:
      return read_npy(std::move(bytes), row, input.ports[0]);
    case Format::npz:
      return read_npz(std::move(bytes), row, input.ports, input.kept);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<RowSource> open_sources(const std::vector<Endpoint>& inputs, Row& row, const Waiting& waiting,
                                        BadRows* skipped) {
  if (inputs.empty()) return nullptr;
  // Opens all inputs before the first is read, because reading a header may wait.
  std::vector<ByteSource> bytes;
  for (const Endpoint& input : inputs) bytes.push_back(open_bytes(input, row, waiting));
  std::vector<std::unique_ptr<RowSource>> sources;
  std::vector<Ports> ports;
  // Timers come first: a row that a peer has sent is not read before the tick of its cycle.
  for (const Endpoint& input : inputs) {
    if (!is_timer(input)) continue;
    sources.push_back(timer_rows(*input.peer, row, input.ports.front(), waiting));
    ports.push_back(input.ports);
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (is_timer(inputs[k])) continue;
    auto source = read_rows(inputs[k], std::move(bytes[k]), row);
    if (inputs[k].peer) source = with_cycles(std::move(source));
    sources.push_back(std::move(source));
    ports.push_back(inputs[k].ports);
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
