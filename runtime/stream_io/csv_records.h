// Splits CSV bytes into records and fields (RFC 4180).
//
// A record ends at a line end (LF or CRLF) outside quotes, or at the end of the input. It stays
// valid until the next one is read. A field is quoted if it begins with a quote, after optional
// blanks; elsewhere a quote is an ordinary character. Lines are counted as an editor counts them,
// including line ends inside quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/bytes/byte_source.h"
#include "runtime/stream_io/row_source.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {

// Returns the first field, up to a separator outside quotes. Sets `at` to the next field, or to
// null after the last one. The field is raw, with its quotes.
std::string_view take_field(const char*& at, const char* end, char separator);

// The text of a raw field without quotes and surrounding blanks. May use `scratch`.
std::string_view field_text(std::string_view raw, std::string& scratch);

class CsvRecords {
 public:
  // messages: each line is a record of its own, whatever quotes it has.
  CsvRecords(ByteSource bytes, char separator, bool messages)
      : bytes_(std::move(bytes)), separator_(separator), messages_(messages) {}

  // Reads the next record; false at the end of the input. Throws BadRow if a quoted field is not
  // closed. After Silence the next call waits for the same record.
  bool next();
  // Lets the next call read the current record once more.
  void again() {
    length_ = 0;
    lines_in_record_ = 0;
  }
  std::string_view record() const { return record_; }
  std::int64_t line() const { return line_; }  // line of the record's first character, from 1
  // Line and column of a position in the record, counted in characters from 1.
  Place where(const char* at) const;
  std::string place(const char* at) const { return place_text(bytes_.name(), where(at)); }
  const ByteSource& bytes() const { return bytes_; }
  // Offset and line of the next record; `go_to` continues there.
  Mark mark() const { return {bytes_.offset() + length_, line_ + (first_ ? 1 : lines_in_record_), 0}; }
  void go_to(const Mark& mark);
  char separator() const { return separator_; }

 private:
  bool find_next();
  std::size_t find_quoted_end();
  [[noreturn]] void refuse_open_quote(std::size_t end, std::size_t length);

  ByteSource bytes_;
  const char separator_;
  const bool messages_;
  std::string_view record_;
  std::size_t length_ = 0;  // length of the record, including the line end
  std::int64_t line_ = 0;
  std::int64_t lines_in_record_ = 1;
  bool first_ = true;
  // The position requested last: its line, and its column.
  mutable std::int64_t place_line_ = 0;
  mutable const char* place_at_ = nullptr;
  mutable ColumnCount columns_;
};

}  // namespace rml::rt
