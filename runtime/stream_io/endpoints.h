// From --input and --output to sources and sinks.
//
// An argument is NAME=FILE for one port or FILE for all ports not named by another. A file's
// format goes by its suffix (.csv .jsonl .chron .npy .npz, each also .gz); stdin, stdout, and
// devices and pipes without a suffix use --format, CSV if that is not given. A file may serve
// once, and never as input and output at the same time: the output would destroy the input. Instead of a
// FILE there may be the address of a peer (live/address.h), whose format is a parameter of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/stream_io/kept_cells.h"
#include "runtime/stream_io/live/address.h"
#include "runtime/stream_io/readers.h"
#include "runtime/stream_io/reading.h"
#include "runtime/stream_io/writers.h"

namespace rml::rt {

enum class Format { csv, jsonl, chron, npy, npz };

struct Endpoint {
  std::string path;  // "-": stdin or stdout
  std::optional<Address> peer;
  Format format = Format::csv;
  Reading reading;  // of an input
  bool gzip = false;
  Ports ports;
  KeptCells* kept = nullptr;           // CSV: where cells that leave unread come from, or wait
  const ColumnTexts* texts = nullptr;  // … what cells are texts
};

// Who reads or writes what. Throws Failure with status 2 for a wrong argument; stdin or stdout
// serves all ports if there is no argument. Nothing is opened.
std::vector<Endpoint> plan_endpoints(Direction direction, const std::vector<std::string>& arguments,
                                     const std::string& stdio_format, const Row& row, const Reading& reading = {});

// The cells go from the CSV among the inputs to that among the outputs, of `row`. Throws Failure with status 2 where
// there is none, or an output has the name of a column.
void keep_cells(KeptCells& kept, std::vector<Endpoint>& inputs, std::vector<Endpoint>& outputs, const Row& row);

// What cells of CSV are texts, among the inputs and the outputs, of the rows `in` and `out`. Throws Failure with status
// 2 where such a port is in no CSV; an output that has the classes of an input is numbers there.
void use_texts(const ColumnTexts& texts, const Row& in, std::vector<Endpoint>& inputs, const Row& out,
               std::vector<Endpoint>& outputs);

// Throws Failure if an output would overwrite an input or another output.
void refuse_overlap(const std::vector<Endpoint>& inputs, const std::vector<Endpoint>& outputs);

// Null if there are no endpoints.
std::unique_ptr<RowSource> open_sources(const std::vector<Endpoint>& inputs, Row& row, const Waiting& waiting);
// before: what a run had settled of the file that now goes on with it.
std::unique_ptr<RowSink> open_sink(const Endpoint& output, const Row& row, const std::optional<Settled>& before = {});
// Throws Failure for an output that a later run could not go on with.
void require_continuable(const std::vector<Endpoint>& outputs);

// Peers are live, and wait in ways of their own: their rows are read and written one by one.
bool any_peer(const std::vector<Endpoint>& endpoints);

}  // namespace rml::rt
