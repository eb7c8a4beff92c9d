// A file, a standard stream or a peer from which rows are read, or to which they are written, with
// the ports of these rows.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/cells/kept_cells.h"
#include "runtime/stream_io/column_texts.h"
#include "runtime/stream_io/reading.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

enum class Format { csv, jsonl, chron, npy, npz };
// True for a format whose rows are lines of text.
inline bool has_lines(Format format) { return format == Format::csv || format == Format::jsonl; }

// Cycles in which no row of an input comes (live/silent_rows.h).
struct MaybeSilent {
  std::string name;                     // of the Boolean input that is true in such a cycle
  std::uint32_t port = 0;               // its port
  std::chrono::nanoseconds timeout{0};  // time within which a row must come; 0: until the tick of a timer
};

struct Endpoint {
  std::string path;  // path or address; "-": standard input or output
  std::optional<Address> peer;
  Format format = Format::csv;
  Reading reading;  // options of the format, for inputs
  bool gzip = false;
  bool table = false;    // inputs: a Parquet or Arrow file, whose rows come as CSV
  bool present = false;  // outputs: only rows in which a sampled value is present
  bool append = false;   // outputs: the rows of the file remain
  std::optional<MaybeSilent> silence;
  Ports ports;
  KeptCells* kept = nullptr;           // cells that are copied from the input to the output
  const ColumnTexts* texts = nullptr;  // values that are texts
};

inline bool is_timer(const Endpoint& endpoint) { return endpoint.peer && endpoint.peer->kind == Address::Kind::timer; }
inline bool is_mqtt(const Endpoint& endpoint) { return endpoint.peer && endpoint.peer->kind == Address::Kind::mqtt; }

// True if an output is standard output.
inline bool on_standard_output(const std::vector<Endpoint>& outputs) {
  return std::ranges::any_of(outputs, [](const Endpoint& e) { return e.path == "-"; });
}
// True if an endpoint is a peer. Rows of peers are read and written one by one.
inline bool any_peer(const std::vector<Endpoint>& endpoints) {
  return std::ranges::any_of(endpoints, [](const Endpoint& e) { return e.peer.has_value(); });
}

}  // namespace rml::rt
