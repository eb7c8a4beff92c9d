// Cuts CSV bytes into records and fields (RFC 4180).
//
// A record ends at a line end outside quotes: LF or CRLF, or the end of the input. The record
// stays valid until the next one is asked for. A field is quoted if it begins with a quote
// (blanks may stand around it); elsewhere a quote is an ordinary character. Lines are counted
// as an editor would, quoted line ends included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/byte_source.h"
#include "runtime/stream_io/row_source.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {

// Splits off the first field: at a separator outside quotes. `at` moves behind it, or to
// null after the last field. The field is raw: quotes still around it.
std::string_view take_field(const char*& at, const char* end, char separator);

// The text of a raw field: blanks and quotes removed. May use `scratch`.
std::string_view field_text(std::string_view raw, std::string& scratch);

class CsvRecords {
 public:
  CsvRecords(ByteSource bytes, char separator) : bytes_(std::move(bytes)), separator_(separator) {}

  // False at the end of the input. Throws Failure if a quoted field is not closed.
  bool next();
  std::string_view record() const { return record_; }
  std::int64_t line() const { return line_; }  // of the record's first character, from 1
  // Line and column, counted in characters from 1, of a place in the record.
  Place where(const char* at) const;
  std::string place(const char* at) const { return place_text(bytes_.name(), where(at)); }
  const ByteSource& bytes() const { return bytes_; }
  char separator() const { return separator_; }

 private:
  std::size_t find_quoted_end();

  ByteSource bytes_;
  const char separator_;
  std::string_view record_;
  std::size_t length_ = 0;  // with the line end
  std::int64_t line_ = 0;
  std::int64_t lines_in_record_ = 1;
  bool first_ = true;
  // The last place asked for: its line, and where it is.
  mutable std::int64_t place_line_ = 0;
  mutable const char* place_at_ = nullptr;
  mutable ColumnCount columns_;
};

}  // namespace rml::rt
