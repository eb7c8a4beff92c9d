// Reads chronograms (docs/language.md, "Chronograms"): one line per stream, `name | v v v`.
//
// `.` is absent, Booleans are T/F, and tensors have no blanks: rank 1 is `[1,2,3]`, rank 2 is
// `[1,2;3,4]`, and each further axis is one more pair of brackets around a list, so
// `[[1;2],[3;4]]` has the shape 2×2×1. A tensor without elements is `[]`. Empty lines and lines
// that begin with -- or # are skipped; lines with other names are ignored. `?` (undetermined) has
// no value for a program and is an error.
//
// With --missing nan, `.` of a float input is NaN where a value is due. With --missing absent, the
// flag of an input is derived: it is true where the line of that input has a value.
//
// The whole text is held in memory. Each stream has a cursor into its line.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/readers.h"
#include "runtime/stream_io/missing_cells.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/spelling.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

struct Stream {
  std::uint32_t port = 0;
  std::int64_t line = 0;
  const char* line_begin = nullptr;
  const char* at = nullptr;     // end of the last value
  const char* token = nullptr;  // start of the last value
  const char* end = nullptr;
  mutable ColumnCount columns;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Parses one tensor and stops at the first character that does not fit the shape.
class TensorText {
 public:
  TensorText(const rml_port& port, void* to, const char* begin, const char* end)
      : port_(port), to_(static_cast<char*>(to)), at_(begin), end_(end) {}

  bool parse() {
    if (port_.rank == 0) return scalar() && at_ == end_;
    if (!take('[') || (port_.elements > 0 && !axis(0)) || !take(']')) return false;
    return at_ == end_;
  }
  const char* at() const { return at_; }
  Parsed result() const { return result_; }
  // The text at the error, up to the next separator.
  std::string_view wrong() const {
    const char* stop = at_;
    while (stop < end_ && !std::strchr(",;[]", *stop)) ++stop;
    return {at_, static_cast<std::size_t>(stop - at_)};
  }

 private:
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool scalar() {
    result_ = parse_scalar(port_.dtype, at_, end_, to_);
    if (result_ != Parsed::ok) return false;
    to_ += dtype_bytes(port_.dtype);
    return true;
  }
  // Parses the elements from this axis on. The last two axes share one pair of brackets (rows end
  // with `;`); each axis before them has brackets around each item.
  bool axis(std::uint32_t axis_index) {
    const bool last = axis_index + 1 == port_.rank;
    const bool row_axis = axis_index + 2 == port_.rank;
    for (std::uint64_t k = 0; k < port_.dims[axis_index]; ++k) {
      if (k > 0 && !take(row_axis ? ';' : ',')) return false;
      if (last) {
        if (!scalar()) return false;
      } else if (row_axis) {
        if (!axis(axis_index + 1)) return false;
      } else if (!take('[') || !axis(axis_index + 1) || !take(']')) {
        return false;
      }
    }
    return true;
  }

  const rml_port& port_;
  char* to_;
  const char* at_;
  const char* end_;
  Parsed result_ = Parsed::ok;
};

class ChronReader final : public RowSource {
 public:
  ChronReader(ByteSource bytes, Row& row, const Ports& wanted, Missing missing)
      : bytes_(std::move(bytes)), row_(row), wanted_(wanted), missing_(missing) {
    bytes_.whole();
    for (const std::uint32_t i : wanted) {
      DerivedFlags flag;
      if (missing == Missing::absent && row.port(i).always && flag.add(row, i, wanted)) flags_.emplace_back(i, flag);
    }
    split_lines();
  }

  bool read() override;
  Place where(std::uint32_t port) const override;
  double fraction() const override { return fraction_; }
  const std::string& name() const override { return bytes_.name(); }

 private:
  void split_lines();
  void add_line(std::string_view line, std::int64_t number);
  bool read_value(Stream& stream);
  void settle_missing();
  bool has_line(std::uint32_t port) const {
    return std::ranges::any_of(streams_, [&](const Stream& s) { return s.port == port; });
  }
  bool follows(std::uint32_t port) const {
    return std::ranges::any_of(flags_, [&](const auto& flag) { return flag.first == port; });
  }
  bool is_due(std::uint32_t port) const;
  [[noreturn]] void wrong_value(const Stream& stream, const TensorText& text) const;
  std::string place(const Stream& stream, const char* at) const {
    return name() + ":" + std::to_string(stream.line) + ":" + std::to_string(stream.columns.column(at));
  }
  std::string cycle_text() const { return ": cycle " + std::to_string(cycle_) + ": "; }

  ByteSource bytes_;
  Row& row_;
  Ports wanted_;
  const Missing missing_;
  std::vector<std::pair<std::uint32_t, DerivedFlags>> flags_;  // flags that --missing absent derives, by port
  std::vector<Stream> streams_;
  std::vector<std::string> unknown_;
  std::int64_t cycle_ = -1;
  double fraction_ = 0;
};

void ChronReader::split_lines() {
  const char* at = bytes_.begin();
  const char* const end = bytes_.end();
  if (end - at >= 3 && std::memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
  for (std::int64_t number = 1; at < end; ++number) {
    const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    const char* const stop = found ? static_cast<const char*>(found) : end;
    add_line({at, static_cast<std::size_t>(stop - at)}, number);
    at = found ? stop + 1 : end;
  }
  for (const std::uint32_t i : wanted_) {
    if (has_line(i) || follows(i)) continue;
    const rml_port& port = row_.port(i);
    std::string mend = did_you_mean(port.name, unknown_);
    if (const auto sampled = sampled_by(row_, i, wanted_); sampled && mend.empty()) {
      const std::string other = row_.port(*sampled).name;
      mend = "; it says when '" + other + "' is there: --missing absent takes that from '" + other + "'";
    }
    throw Failure(name() + ": no line '" + port.name + " | …' for input '" + port.name + "' (" + type_text(port) + ")" +
                  mend);
  }
}

void ChronReader::add_line(std::string_view line, std::int64_t number) {
  std::size_t first = 0;
  while (first < line.size() && is_space(line[first])) ++first;
  if (first == line.size() || line[first] == '#' || line.substr(first, 2) == "--") return;
  const std::size_t bar = line.find('|');
  const std::string where = name() + ":" + std::to_string(number);
  if (bar == line.npos) throw Failure(where + ": expected 'name | values'");
  const std::string_view stream_name = trimmed(line.substr(0, bar));
  for (const std::uint32_t i : wanted_) {
    if (stream_name != row_.port(i).name) continue;
    for (const Stream& other : streams_) {
      if (other.port == i) {
        throw Failure(where + ": stream '" + std::string(stream_name) + "' appears twice, first in line " +
                      std::to_string(other.line));
      }
    }
    const char* const values = line.data() + bar + 1;
    streams_.push_back({i, number, line.data(), values, values, line.data() + line.size(), {}});
    streams_.back().columns.begin(line.data());
    return;
  }
  unknown_.emplace_back(stream_name);
}

bool ChronReader::read() {
  ++cycle_;
  const Stream* ended = nullptr;
  const Stream* going_on = nullptr;
  for (Stream& stream : streams_) (read_value(stream) ? going_on : ended) = &stream;
  if (ended && going_on) {
    throw Failure(place(*ended, ended->end) + cycle_text() + "stream '" + row_.port(ended->port).name + "' has " +
                  std::to_string(cycle_) + " values, but '" + row_.port(going_on->port).name + "' has more");
  }
  if (going_on) {
    fraction_ = static_cast<double>(going_on->at - going_on->line_begin) /
                static_cast<double>(going_on->end - going_on->line_begin);
  }
  if (going_on) settle_missing();
  return going_on != nullptr;
}

// Returns whether the input must have a value in this cycle, by the flags that the chronogram has.
bool ChronReader::is_due(std::uint32_t port) const {
  if (row_.port(port).always) return true;
  const auto sampler = sampler_of(row_, port);
  if (!sampler || !has_line(sampler->flag)) return false;
  return (*static_cast<const std::uint8_t*>(row_.data(sampler->flag)) != 0) == sampler->positive;
}

// Handles the absent values of this cycle, after all lines are read.
void ChronReader::settle_missing() {
  for (const Stream& stream : streams_) {
    const rml_port& port = row_.port(stream.port);
    if (row_.is_present(stream.port)) continue;
    if (missing_ == Missing::nan && is_float(port.dtype) && is_due(stream.port))
      fill_with_nan(row_, stream.port);
    else if (port.always && !follows(stream.port))
      throw Failure(place(stream, stream.token) + cycle_text() + "'" + port.name +
                    "' is absent, but it is present at every cycle (clock " + port.clock + ")" +
                    (sampled_by(row_, stream.port, wanted_) ? "" : mend_of_missing(port)));
  }
  for (const auto& [flag, derived] : flags_)
    if (!has_line(flag) || !row_.is_present(flag))
      derived.settle(row_, [&](std::uint32_t) { return name() + cycle_text(); }, "not in the chronogram");
}

bool ChronReader::read_value(Stream& stream) {
  while (stream.at < stream.end && is_space(*stream.at)) ++stream.at;
  if (stream.at == stream.end) return false;
  stream.token = stream.at;
  while (stream.at < stream.end && !is_space(*stream.at)) ++stream.at;
  const std::string_view token(stream.token, static_cast<std::size_t>(stream.at - stream.token));
  const rml_port& port = row_.port(stream.port);
  if (token == "?") {
    throw Failure(place(stream, stream.token) + cycle_text() + "'" + port.name +
                  "' is undetermined (?), which an input cannot be");
  }
  const bool present = token != ".";
  row_.set_present(stream.port, present);
  if (present) {
    TensorText text(port, row_.data(stream.port), stream.token, stream.at);
    if (!text.parse()) wrong_value(stream, text);
  }
  return true;
}

void ChronReader::wrong_value(const Stream& stream, const TensorText& text) const {
  const rml_port& port = row_.port(stream.port);
  const char* const at = port.rank == 0 ? stream.token : text.at();
  const std::string where = place(stream, at) + cycle_text() + "'" + port.name + "': ";
  if (port.rank > 0 && text.result() != Parsed::ok && !text.wrong().empty()) {
    throw Failure(where + parse_complaint(port.dtype, text.result(), text.wrong()));
  }
  const std::string_view token(stream.token, static_cast<std::size_t>(stream.at - stream.token));
  if (port.rank == 0) {
    const Parsed result = text.result() == Parsed::ok ? Parsed::malformed : text.result();
    throw Failure(where + parse_complaint(port.dtype, result, token));
  }
  throw Failure(where + "not a value of type " + type_text(port));
}

Place ChronReader::where(std::uint32_t port) const {
  for (const Stream& stream : streams_) {
    if (stream.port == port) return {stream.line, stream.columns.column(stream.token)};
  }
  return {};
}

}  // namespace

std::unique_ptr<RowSource> read_chron(ByteSource bytes, Row& row, const Ports& wanted, Missing missing) {
  return std::make_unique<ChronReader>(std::move(bytes), row, wanted, missing);
}

}  // namespace rml::rt
