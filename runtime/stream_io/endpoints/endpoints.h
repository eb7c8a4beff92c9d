// Plans the inputs and outputs of a run from the arguments of --input and --output, before any file is opened.
//
// An argument is NAME=FILE for one port, or FILE for all ports without an argument of their own.
// The suffix determines the format of a file (.csv .jsonl .chron .npy .npz, each also .gz). Inputs may also be Parquet
// and Arrow files, which are read as CSV (table_file.h).
// Standard streams, and devices and pipes without a suffix, use --format, by default CSV. A file
// may be used once, and not both as input and output, because the output would destroy the input.
// Instead of FILE there may be the address of a peer (live/address.h), which includes the format
// as a parameter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/stream_io/endpoints/endpoint.h"

namespace rml::rt {

// Assigns ports to endpoints without opening anything. Standard input or output serves all ports
// if there is no argument. computed: inputs that the run computes itself, and no endpoint provides.
// key: the port of the keys. It precedes the ports of every output except an .npy, which holds one stream; an input
// must have a row in every cycle. Throws Failure with status 2 for a wrong argument.
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

}  // namespace rml::rt
