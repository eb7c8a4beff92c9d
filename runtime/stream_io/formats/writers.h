// The writers, one function per format.
//
// Each writer writes the ports `wanted` of a row and keeps a reference to the row. Streaming
// formats (csv, jsonl, npy into a file) hold at most one buffer; chron and npz hold the whole
// run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/stream_io/bytes/byte_sink.h"
#include "runtime/stream_io/cells/kept_cells.h"
#include "runtime/stream_io/column_texts.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_sink.h"

namespace rml::rt {

struct CsvRest {
  bool again = false;         // continue a file that already has rows, without a new header
  KeptCells* kept = nullptr;  // cells that are written before those of the row; null: none
  const ColumnTexts* texts = nullptr;
};
// The first line, with its line end.
std::string csv_header(const Row& row, const Ports& wanted, const KeptCells* kept);
std::unique_ptr<RowSink> write_csv(ByteSink bytes, const Row& row, const Ports& wanted, CsvRest rest = {});
// kept: cells to be written before the values; null if there are none.
std::unique_ptr<RowSink> write_jsonl(ByteSink bytes, const Row& row, const Ports& wanted, KeptCells* kept = nullptr,
                                     const ColumnTexts* texts = nullptr);
std::unique_ptr<RowSink> write_chron(ByteSink bytes, const Row& row, const Ports& wanted);
// Writes one port, which must be present at every cycle, as an array.
std::unique_ptr<RowSink> write_npy(ByteSink bytes, const Row& row, std::uint32_t port,
                                   const std::optional<Settled>& before = {});
// A port that may be absent becomes two arrays: its present values, and the flags as
// NAME.present.
// A key that is a text becomes an array of texts, and so does a column of kept cells.
std::unique_ptr<RowSink> write_npz(ByteSink bytes, const Row& row, const Ports& wanted, KeptCells* kept = nullptr,
                                   const ColumnTexts* texts = nullptr);

}  // namespace rml::rt
