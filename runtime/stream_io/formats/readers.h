// The readers, one function per format.
//
// Each reader fills the ports `wanted` of a row and keeps a reference to the row. It throws a
// Failure if the beginning of the input already shows a missing column or a wrong type.
// equal_length reads several sources in step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/stream_io/bad_rows.h"
#include "runtime/stream_io/bytes/byte_source.h"
#include "runtime/stream_io/cells/kept_cells.h"
#include "runtime/stream_io/column_texts.h"
#include "runtime/stream_io/reading.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

// Without a header, the file has one column per element of the wanted ports, in their order.
struct CsvForm {
  bool headed = true;
  Reading reading = {};
  KeptCells* kept = nullptr;
  const ColumnTexts* texts = nullptr;
  std::optional<std::uint32_t> silent = {};  // input that is false in every row of this source
};
std::unique_ptr<RowSource> read_csv(ByteSource bytes, Row& row, const Ports& wanted, CsvForm form = {});
struct JsonlForm {
  const ColumnTexts* texts = nullptr;
  Missing missing = Missing::error;
  KeptCells* kept = nullptr;
  bool messages = false;                     // each line is a message, also a blank one
  std::optional<std::uint32_t> silent = {};  // input that is false in every row of this source
};
std::unique_ptr<RowSource> read_jsonl(ByteSource bytes, Row& row, const Ports& wanted, JsonlForm form = {});
std::unique_ptr<RowSource> read_chron(ByteSource bytes, Row& row, const Ports& wanted,
                                      Missing missing = Missing::error);
// Reads an array, which provides the values of one port.
std::unique_ptr<RowSource> read_npy(ByteSource bytes, Row& row, std::uint32_t port);
// kept: receives the arrays to be kept as cells; null if there are none.
std::unique_ptr<RowSource> read_npz(ByteSource bytes, Row& row, const Ports& wanted, KeptCells* kept = nullptr);

// Reads all sources together. They must be equally long; otherwise a Failure names two that
// differ. skipped: receives the rows that are not valid; null: the first of them is a failure. If a
// row of one source is not valid, the rows of the others that belong to the same cycle are dropped.
// row: the row that they fill.
std::unique_ptr<RowSource> equal_length(std::vector<std::unique_ptr<RowSource>> sources, std::vector<Ports> ports,
                                        const Row& row, BadRows* skipped = nullptr);

}  // namespace rml::rt
