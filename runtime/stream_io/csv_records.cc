// In the common record without quotes, memchr finds the end. A record with quotes is scanned
// again by a small automaton. Its state is kept while more bytes are fetched, so a long quoted
// field is scanned only once.
#include "runtime/stream_io/csv_records.h"

#include <algorithm>
#include <cstring>

#include "runtime/stream_io/bad_rows.h"
#include "runtime/stream_io/bytes/waiting.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

bool is_blank(char c, char separator) { return c == ' ' || (c == '\t' && separator != '\t'); }

}  // namespace

std::string_view take_field(const char*& at, const char* end, char separator) {
  const char* const begin = at;
  const char* p = at;
  while (p < end && is_blank(*p, separator)) ++p;
  if (p < end && *p == '"') {
    ++p;
    while (p < end) {
      if (*p++ != '"') continue;
      if (p == end || *p != '"') break;
      ++p;
    }
  }
  const void* found = p < end ? std::memchr(p, separator, static_cast<std::size_t>(end - p)) : nullptr;
  const char* const stop = found ? static_cast<const char*>(found) : end;
  at = found ? stop + 1 : nullptr;
  return {begin, static_cast<std::size_t>(stop - begin)};
}

std::string_view field_text(std::string_view raw, std::string& scratch) {
  std::string_view text = trimmed(raw);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  text = text.substr(1, text.size() - 2);
  if (text.find('"') == text.npos) return trimmed(text);
  scratch.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    scratch += text[i];
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
  }
  return trimmed(scratch);
}

// The length of the record at the beginning of the unread bytes, without its line end.
std::size_t CsvRecords::find_quoted_end() {
  enum { field_start, plain, quoted, quote_in_quoted } state = field_start;
  std::size_t i = 0;
  while (true) {
    if (i == bytes_.size() && !bytes_.more()) {
      if (state != quoted) return i;
      refuse_open_quote(i, i);
    }
    const char c = bytes_.begin()[i];
    if (state == quoted) {
      if (c == '"') state = quote_in_quoted;
      if (c == '\n' && messages_) refuse_open_quote(i, i + 1);
      if (c == '\n') ++lines_in_record_;
    } else if (c == '\n') {
      return i;
    } else if (c == '"' && (state == field_start || state == quote_in_quoted)) {
      state = quoted;
    } else if (c == separator_) {
      state = field_start;
    } else if (!(state == field_start && is_blank(c, separator_))) {
      state = plain;
    }
    ++i;
  }
}

// end, length: of the record without and with its line end.
void CsvRecords::refuse_open_quote(std::size_t end, std::size_t length) {
  length_ = length;
  throw BadRow(bytes_.name() + ":" + std::to_string(line_) + ": a quoted field is not closed", {bytes_.begin(), end});
}

bool CsvRecords::next() {
  try {
    return find_next();
  } catch (const Silence&) {
    again();
    throw;
  }
}

bool CsvRecords::find_next() {
  bytes_.consume(length_);
  line_ += first_ ? 1 : lines_in_record_;
  lines_in_record_ = 1;
  length_ = 0;
  if (first_) {
    first_ = false;
    // Fetches a single byte first: a header of two bytes must not wait for a third one.
    const bool marked = bytes_.at_least(1) && *bytes_.begin() == '\xef' && bytes_.at_least(3) &&
                        std::memcmp(bytes_.begin(), "\xef\xbb\xbf", 3) == 0;
    if (marked) bytes_.consume(3);
  }
  std::size_t scanned = 0;
  std::size_t end = 0;
  while (true) {
    const std::size_t size = bytes_.size();
    const void* found = size > scanned ? std::memchr(bytes_.begin() + scanned, '\n', size - scanned) : nullptr;
    if (found) {
      end = static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.begin());
      break;
    }
    scanned = size;
    if (!bytes_.more()) {
      if (size == 0) return false;
      end = size;
      break;
    }
  }
  if (std::memchr(bytes_.begin(), '"', end)) end = find_quoted_end();
  length_ = std::min(end + 1, bytes_.size());
  if (end > 0 && bytes_.begin()[end - 1] == '\r') --end;
  record_ = {bytes_.begin(), end};
  place_at_ = nullptr;
  return true;
}

void CsvRecords::go_to(const Mark& mark) {
  bytes_.seek(mark.offset);
  length_ = 0;
  line_ = mark.line;
  lines_in_record_ = 0;
  first_ = false;
}

// Line ends in a record are inside quotes. Positions are mostly requested in order, so counting
// continues from the last one.
Place CsvRecords::where(const char* at) const {
  if (place_at_ == nullptr || at < place_at_) {
    place_line_ = line_;
    place_at_ = record_.data();
    columns_.begin(place_at_);
  }
  while (const void* end = lines_in_record_ > 1 && at > place_at_
                               ? std::memchr(place_at_, '\n', static_cast<std::size_t>(at - place_at_))
                               : nullptr) {
    ++place_line_;
    place_at_ = static_cast<const char*>(end) + 1;
    columns_.begin(place_at_);
  }
  const std::int64_t column = columns_.column(at);
  place_at_ = at;
  return {place_line_, column};
}

}  // namespace rml::rt
