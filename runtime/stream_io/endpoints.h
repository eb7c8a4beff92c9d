// Turns the arguments of --input and --output into sources and sinks.
//
// An argument is NAME=FILE for one port, or FILE for all ports without an argument of their own.
// The suffix determines the format of a file (.csv .jsonl .chron .npy .npz, each also .gz).
// Standard streams, and devices and pipes without a suffix, use --format, by default CSV. A file
// may be used once, and not both as input and output, because the output would destroy the input.
// Instead of FILE there may be the address of a peer (live/address.h), which includes the format
// as a parameter.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/stream_io/cells/kept_cells.h"
#include "runtime/stream_io/live/address.h"
#include "runtime/stream_io/readers.h"
#include "runtime/stream_io/reading.h"
#include "runtime/stream_io/writers.h"

namespace rml::rt {

enum class Format { csv, jsonl, chron, npy, npz };

struct Endpoint {
  std::string path;  // path or address; "-": standard input or output
  std::optional<Address> peer;
  Format format = Format::csv;
  Reading reading;  // options of the format, for inputs
  bool gzip = false;
  bool present = false;  // outputs: only rows in which a sampled value is present
  bool append = false;   // outputs: the rows of the file remain
  Ports ports;
  KeptCells* kept = nullptr;           // cells that are copied from the input to the output
  const ColumnTexts* texts = nullptr;  // values that are texts
};

// Assigns ports to endpoints without opening anything. Standard input or output serves all ports
// if there is no argument. computed: inputs that the run computes itself, and no endpoint provides.
// key: the port of the keys, which precedes the ports of every output except an .npy, which holds
// one stream. Throws Failure with status 2 for a wrong argument.
std::vector<Endpoint> plan_endpoints(Direction direction, const std::vector<std::string>& arguments,
                                     const std::string& stdio_format, const Row& row, const Reading& reading = {},
                                     const Ports& computed = {}, std::optional<std::uint32_t> key = {});

// Connects the inputs that may have the columns of --keep to the outputs that can write them.
// row: the row of the outputs. Throws Failure with status 2 if there is no such input or output,
// or if an output has the name of a kept column.
void keep_cells(KeptCells& kept, std::vector<Endpoint>& inputs, std::vector<Endpoint>& outputs, const Row& row);

// Tells the inputs and outputs of CSV and JSON lines which of their values are texts. in, out: the
// rows of the inputs and outputs. Throws Failure with status 2 if such a port is in another format.
// An output that has its classes from an input of the same name is written as a number there.
void use_texts(const ColumnTexts& texts, const Row& in, std::vector<Endpoint>& inputs, const Row& out,
               std::vector<Endpoint>& outputs);

// Throws Failure if an output would overwrite an input or another output.
void refuse_overlap(const std::vector<Endpoint>& inputs, const std::vector<Endpoint>& outputs);

// Null if there are no endpoints. skipped: receives rows that are not valid; null: the first of them is a failure.
std::unique_ptr<RowSource> open_sources(const std::vector<Endpoint>& inputs, Row& row, const Waiting& waiting,
                                        BadRows* skipped = nullptr);
// before: what an earlier run had settled of the file, which is then continued. An output with
// `append` continues after the last whole row that its file has.
std::unique_ptr<RowSink> open_sink(const Endpoint& output, const Row& row, const std::optional<Settled>& before = {});
// Throws Failure for an output that a later run could not continue.
void require_continuable(const std::vector<Endpoint>& outputs);
// all: marks all files for appending. Throws Failure for a marked output whose rows must be
// written together, or if there is no file.
void append_to_files(std::vector<Endpoint>& outputs, bool all);

// True if an output is standard output.
bool on_standard_output(const std::vector<Endpoint>& outputs);
// True if an endpoint is a peer. Rows of peers are read and written one by one.
bool any_peer(const std::vector<Endpoint>& endpoints);

}  // namespace rml::rt
