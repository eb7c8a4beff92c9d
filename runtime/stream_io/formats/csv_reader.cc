// Reads CSV rows (RFC 4180).
//
// The header names columns: `x` for a scalar; `x[0]`, `x[1,2]` for elements (a comma inside
// brackets does not separate columns there, quoted or not). It is turned into a list with one
// Column per field, so that reading a row is a single pass over its bytes, with each number
// parsed in place. Only records with quotes, blanks or errors take the slower general path.
//
// A port is absent if all its fields are empty. A blank line is a row only if the file has a
// single column, for an input that may be absent; in other files blank lines may only come at the
// end.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/readable.h"
#include "runtime/stream_io/csv_records.h"
#include "runtime/stream_io/formats/readers.h"
#include "runtime/stream_io/missing_cells.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/spelling.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

std::string cut_name(const std::string& column) {
  constexpr std::size_t most = 100;
  return column.size() <= most ? column : column.substr(0, cut_before_character(column, most)) + "…";
}

// Marks columns that always take the general path, since no scalar has this type.
constexpr std::uint8_t as_text = 255;

struct Column {
  void* to = nullptr;  // where the value is stored; null: the column is not read
  std::uint32_t port = 0;
  std::uint8_t dtype = RML_BOOL;
};

class CsvReader final : public RowSource {
 public:
  CsvReader(ByteSource bytes, Row& row, const Ports& wanted, CsvForm form)
      : records_(std::move(bytes), form.reading.separator, !form.headed),
        row_(row),
        wanted_(wanted),
        headed_(form.headed),
        missing_(form.reading.missing),
        kept_(form.kept),
        texts_(form.texts),
        silent_(form.silent) {
    filled_.assign(row.size(), 0);
    if (headed_) {
      read_header();
    } else {
      name_columns();
    }
    plan_columns();
  }

  bool read() override;
  void drop() override;
  void read_nothing() override {
    if (!kept_columns_.empty()) kept_->add_none();
  }
  std::string_view text() const override { return records_.record(); }
  Place where(std::uint32_t port) const override;
  double fraction() const override { return records_.bytes().fraction(); }
  const std::string& name() const override { return records_.bytes().name(); }
  bool can_go_back() const override { return records_.bytes().can_seek(); }
  void mark(std::vector<Mark>& marks) const override {
    marks.push_back(records_.mark());
    marks.back().row = cycle_ + 1;
  }
  const Mark* go_to(const Mark* marks) override {
    records_.go_to(*marks);
    blank_ = 0;
    cycle_ = marks->row - 1;
    return marks + 1;
  }

 private:
  void read_header();
  void name_columns();
  void plan_columns();
  [[noreturn]] void missing(std::uint32_t port, std::uint64_t element, const std::vector<std::string>& unknown) const;
  // A line of separators is not blank, since it has fields.
  bool is_blank_line() const {
    return trimmed(records_.record()).empty() && records_.record().find(records_.separator()) == std::string_view::npos;
  }
  bool next_row();
  bool next_row_or_refused();
  void parse_row();
  void parse_record();
  void parse_field(std::size_t column, std::string_view raw);
  // Stores the value of the field; false if it has none.
  bool parse_text(std::size_t column, std::string_view raw);
  std::string_view cell_text(std::size_t column, std::string_view raw);
  void settle_presence();
  bool is_key_text(std::uint32_t port) const { return texts_ != nullptr && texts_->is_key(port); }
  bool is_due(std::uint32_t port) const;
  void fill_with_nan(std::uint32_t port);
  [[noreturn]] void wrongly_missing(std::uint32_t port);
  void derive_flags();
  void keep_cells();
  // The raw field of a column in the current record.
  std::string_view field(std::size_t column) const;
  std::string cycle_text() const { return ": cycle " + std::to_string(cycle_) + ": "; }

  CsvRecords records_;
  Row& row_;
  Ports wanted_;
  const bool headed_;
  std::vector<std::string> names_;  // names of the columns, in file order
  std::vector<Column> columns_;
  std::vector<std::size_t> first_;     // indexed by port: column of its first element in the file
  std::vector<const char*> starts_;    // starts of the fields of the current record
  std::vector<std::uint64_t> filled_;  // one per port: number of its fields that were not empty
  const Missing missing_;
  KeptCells* const kept_;  // stores the cells to keep; null: this reader keeps none
  std::vector<std::size_t> kept_columns_;
  const ColumnTexts* const texts_;  // parses cells that are texts; null: no cells are texts
  const std::optional<std::uint32_t> silent_;
  bool has_more_ = false;  // the file has flags that follow from cells, or cells to keep
  DerivedFlags derived_;
  bool blank_is_row_ = false;
  std::int64_t blank_ = 0;     // a blank line that is an error if a row follows; 0: none
  char likely_separator_ = 0;  // separator that the header seems to use; 0: unknown
  std::int64_t cycle_ = -1;
  std::string scratch_;
};

// In a header a comma inside brackets belongs to the name, and blanks are ignored.
std::vector<HeaderField> split_header(std::string_view record, char separator) {
  std::vector<HeaderField> fields;
  std::string scratch;
  const char* at = record.data();
  const char* const end = at + record.size();
  while (at) {
    const char* const begin = at;
    std::string_view raw = take_field(at, end, separator);
    if (trimmed(raw).substr(0, 1) != "\"") {
      while (at && raw.find('[') != raw.npos && raw.find(']') == raw.npos) {
        take_field(at, end, separator);
        const char* const stop = at ? at - 1 : end;
        raw = {begin, static_cast<std::size_t>(stop - begin)};
      }
    }
    std::string name;
    for (const char c : field_text(raw, scratch)) {
      if (c != ' ' && c != '\t') name += c;
    }
    fields.push_back({std::move(name), field_content(trimmed(raw))});
  }
  return fields;
}

bool looks_like_a_number(const std::string& text) {
  double value = 0;
  if (text.find_first_of("0123456789") > 1) return false;  // "nan" in a header is a name, not a number
  return parse_whole_scalar(RML_F64, text, &value) == Parsed::ok;
}

// Latin text has zeros in half of its UTF-16 bytes; the last byte may belong to the line end.
bool is_utf16(std::string_view header) {
  const bool marked = header.substr(0, 2) == "\xff\xfe" || header.substr(0, 2) == "\xfe\xff";
  return marked || (header.size() > 1 && 2 * std::count(header.begin(), header.end(), '\0') >= std::ssize(header) - 1);
}

void CsvReader::read_header() {
  if (!records_.next()) throw Failure(name() + ": empty; expected a header of column names");
  const std::string_view header = records_.record();
  if (is_utf16(header)) throw Failure(name() + ": UTF-16; expected UTF-8: iconv -f UTF-16 -t UTF-8 converts it");
  if (header.find('\r') != header.npos && header.find('"') == header.npos)
    throw Failure(name() + ": its lines end with CR alone; expected LF or CR LF: tr '\\r' '\\n' converts it");
  const std::vector<HeaderField> fields = split_header(header, records_.separator());
  for (const HeaderField& field : fields) names_.push_back(field.name);
  if (kept_ != nullptr) kept_columns_ = kept_->find(name(), name() + ":1", fields);
  if (header.find(records_.separator()) == header.npos)
    for (const char other : {';', '\t', '|', ','})
      if (header.find(other) != header.npos && likely_separator_ == 0) likely_separator_ = other;
  std::size_t numbers = 0;
  for (const std::string& column : names_) numbers += looks_like_a_number(column) ? 1 : 0;
  if (numbers == names_.size()) {
    throw Failure(name() + ":1: expected a header of column names, found numbers");
  }
}

void CsvReader::name_columns() {
  for (const std::uint32_t i : wanted_) {
    for (std::uint64_t k = 0; k < row_.port(i).elements; ++k) names_.push_back(element_name(row_.port(i), k));
  }
}

void CsvReader::plan_columns() {
  const auto elements = elements_by_name(row_, wanted_);
  std::vector<std::vector<bool>> seen(row_.size());
  for (const std::uint32_t i : wanted_) seen[i].resize(row_.port(i).elements);
  std::vector<std::string> unknown;
  columns_.resize(names_.size());
  starts_.resize(names_.size());
  first_.assign(row_.size(), names_.size());
  for (std::size_t c = 0; c < names_.size(); ++c) {
    const auto it = elements.find(names_[c]);
    if (it == elements.end()) {
      unknown.push_back(names_[c]);
      continue;
    }
    const auto [port, index] = it->second;
    if (seen[port][index]) throw Failure(name() + ":1: column '" + names_[c] + "' appears twice");
    seen[port][index] = true;
    if (first_[port] == names_.size()) first_[port] = c;
    const bool is_text = texts_ != nullptr && texts_->of_input(port);
    columns_[c] = {row_.element(port, index), port, is_text ? as_text : row_.port(port).dtype};
  }
  const Ports asked = wanted_;
  for (const std::uint32_t i : asked) {
    const bool derived = missing_ == Missing::absent && row_.port(i).always != 0 && row_.port(i).elements == 1 &&
                         !seen[i][0] && derived_.add(row_, i, asked);
    if (derived) wanted_.erase(std::find(wanted_.begin(), wanted_.end(), i));
    for (std::uint64_t k = 0; k < seen[i].size() && !derived; ++k) {
      if (!seen[i][k]) missing(i, k, unknown);
    }
  }
  has_more_ = !derived_.none() || !kept_columns_.empty();
  blank_is_row_ = columns_.size() == 1 && columns_[0].to && !row_.port(columns_[0].port).always;
}

void CsvReader::missing(std::uint32_t i, std::uint64_t element, const std::vector<std::string>& unknown) const {
  const rml_port& port = row_.port(i);
  const std::string wanted = element_name(port, element);
  const std::string text =
      name() + ":1: no column '" + wanted + "' for " +
      (is_key_text(i) ? std::string("the ") + texts_->key_word() + "s" : "input " + expected_columns(port));
  if (likely_separator_ != 0) {
    const std::string separator = likely_separator_ == '\t' ? "tab" : std::string(1, likely_separator_);
    throw Failure(text + "; the separator looks like " + (separator == "tab" ? "a tab" : "'" + separator + "'") +
                  ": --delimiter '" + separator + "' reads it");
  }
  for (const std::string& other : unknown) {
    if (port.rank > 0 && other == port.name) {
      throw Failure(text + "; there is a column '" + other + "', but the input is not a scalar");
    }
    if (port.rank == 0 && other.rfind(std::string(port.name) + "[", 0) == 0) {
      throw Failure(text + "; there is a column '" + cut_name(other) + "', but the input is a scalar");
    }
  }
  const std::string near = did_you_mean(wanted, unknown);
  const auto sampled = near.empty() && port.always != 0 ? sampled_by(row_, i, wanted_) : std::nullopt;
  if (!sampled && near.empty() && columns_.size() == 1 && unknown.size() == 1)
    throw Failure(text + "; the first line, which names the columns, has only '" + cut_name(unknown[0]) + "'");
  if (!sampled) throw Failure(text + near);
  const std::string other = row_.port(*sampled).name;
  throw Failure(text + "; it says when '" + other + "' is present: --missing absent derives it from the cells of '" +
                other + "'");
}

// Reads the next record that is not blank; for blank lines see the head of this file.
bool CsvReader::next_row() {
  while (records_.next()) {
    if (!blank_is_row_ && is_blank_line()) {
      if (blank_ == 0) blank_ = records_.line();
      continue;
    }
    if (blank_ == 0) return true;
    records_.again();
    throw BadRow(name() + ":" + std::to_string(std::exchange(blank_, 0)) + cycle_text() + "blank line", "");
  }
  return false;
}

bool CsvReader::next_row_or_refused() {
  try {
    return next_row();
  } catch (const BadRow&) {
    --cycle_;
    throw;
  } catch (const RefusedRow& refused) {
    throw BadRow(refused.at_cycle(cycle_--).what(), refused.row());
  }
}

bool CsvReader::read() {
  ++cycle_;
  if (!next_row_or_refused()) return false;
  try {
    parse_row();
  } catch (const TooManyKeys&) {
    throw;
  } catch (const Failure& failure) {
    --cycle_;
    throw BadRow(failure.what(), records_.record());
  }
  return true;
}

void CsvReader::drop() {
  --cycle_;
  if (!kept_columns_.empty()) kept_->drop_last();
}

void CsvReader::parse_row() {
  for (const std::uint32_t i : wanted_) filled_[i] = 0;
  parse_record();
  settle_presence();
  if (has_more_) {
    derive_flags();
    keep_cells();
  }
}

// A hint for the message about a field that contains a comma between digits, perhaps a decimal
// comma.
static std::string hint_of_decimal_comma(std::string_view record, char separator) {
  for (std::size_t k = 1; separator == ',' && k + 1 < record.size(); ++k)
    if (record[k] == ',' && std::isdigit(static_cast<unsigned char>(record[k - 1])) != 0 &&
        std::isdigit(static_cast<unsigned char>(record[k + 1])) != 0)
      return " (a comma separates columns: a number has a decimal point, and --delimiter ';' reads columns separated "
             "by "
             "semicolons)";
  return "";
}

void CsvReader::parse_record() {
  const std::string_view record = records_.record();
  const char* at = record.data();
  const char* const end = at + record.size();
  const std::size_t count = columns_.size();
  for (std::size_t c = 0; c < count; ++c) {
    if (!at) {
      throw Failure(name() + ":" + std::to_string(records_.line()) + cycle_text() + "the row has " + std::to_string(c) +
                    (c == 1 ? " field" : " fields") + (headed_ ? ", the header " : ", expected ") +
                    std::to_string(count));
    }
    const Column& column = columns_[c];
    const char* stop = starts_[c] = at;
    if (column.to && at < end && parse_scalar(column.dtype, stop, end, column.to) == Parsed::ok &&
        (stop == end || *stop == records_.separator())) {
      ++filled_[column.port];
      at = stop == end ? nullptr : stop + 1;
      continue;
    }
    const std::string_view raw = take_field(at, end, records_.separator());
    if (column.to) parse_field(c, raw);
  }
  if (at) {
    std::size_t fields = count;
    while (at) {
      take_field(at, end, records_.separator());
      ++fields;
    }
    throw Failure(name() + ":" + std::to_string(records_.line()) + cycle_text() + "the row has " +
                  std::to_string(fields) + " fields, the header " + std::to_string(count) +
                  hint_of_decimal_comma(record, records_.separator()));
  }
}

void CsvReader::parse_field(std::size_t c, std::string_view raw) {
  if (parse_text(c, raw)) ++filled_[columns_[c].port];
}

// The text of a cell. Blanks between quotes are part of a key.
std::string_view CsvReader::cell_text(std::size_t c, std::string_view raw) {
  if (!is_key_text(columns_[c].port) || !trimmed(raw).starts_with('"')) return field_text(raw, scratch_);
  scratch_ = field_content(trimmed(raw));
  return scratch_;
}

// A hint about a cell that is no value of its column: `NA`, or a text for an integer input.
static std::string hint_of_cell(const rml_port& port, const std::string& name, std::string_view text, bool missing) {
  if (missing) return "; --missing absent or --missing nan accepts such cells";
  const bool integer = port.rank == 0 && port.dtype != RML_BOOL && !is_float(port.dtype) && port.dtype != RML_BF16;
  const bool word = std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  return integer && word ? "; --classes " + name + "=FILE reads texts: line k is class k" : "";
}

bool CsvReader::parse_text(std::size_t c, std::string_view raw) {
  const std::string_view text = cell_text(c, raw);
  if (text.empty()) return false;
  const Column& column = columns_[c];
  const bool is_text = column.dtype == as_text;
  Parsed result = Parsed::malformed;
  if (!is_text)
    result = parse_whole_scalar(column.dtype, text, column.to);
  else if (texts_->parse(row_.port(column.port), column.port, std::string(text), column.to))
    result = Parsed::ok;
  if (result == Parsed::ok) return true;
  const bool word = is_missing_word(text);
  if (word && missing_ != Missing::error) return false;
  const std::string complaint =
      is_text ? texts_->complaint(column.port, std::string(text)) : parse_complaint(column.dtype, result, text);
  const bool missing = word && !is_key_text(column.port);
  const std::string hint = is_text && !missing ? "" : hint_of_cell(row_.port(column.port), names_[c], text, missing);
  throw Failure(records_.place(raw.data()) + cycle_text() + "column '" + names_[c] + "': " + complaint + hint);
}

void CsvReader::settle_presence() {
  for (const std::uint32_t i : wanted_) {
    const rml_port& port = row_.port(i);
    const bool whole = filled_[i] == port.elements;
    row_.set_present(i, whole && (port.elements > 0 || port.always));
    if (whole) continue;
    if (missing_ == Missing::nan && is_float(port.dtype) && (filled_[i] > 0 || is_due(i)))
      fill_with_nan(i);
    else if (filled_[i] > 0 || port.always)
      wrongly_missing(i);
  }
}

// True if the clock of the port is true in this row, as far as the flag is in the row itself.
bool CsvReader::is_due(std::uint32_t port) const {
  if (row_.port(port).always) return true;
  const auto sampler = sampler_of(row_, port);
  if (sampler && sampler->flag == silent_) return !sampler->positive;
  if (!sampler || filled_[sampler->flag] == 0) return false;
  return (*static_cast<const std::uint8_t*>(row_.data(sampler->flag)) != 0) == sampler->positive;
}

void CsvReader::fill_with_nan(std::uint32_t port) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    if (column.to && column.port == port && !parse_text(c, field(c)))
      parse_whole_scalar(row_.port(port).dtype, "nan", column.to);
  }
  row_.set_present(port, true);
}

void CsvReader::wrongly_missing(std::uint32_t i) {
  const rml_port& port = row_.port(i);
  std::size_t c = 0;
  while (!columns_[c].to || columns_[c].port != i || parse_text(c, field(c))) ++c;
  const std::string_view text = cell_text(c, field(c));
  const std::string column = records_.place(field(c).data()) + cycle_text() + "column '" + names_[c] + "' is " +
                             (text.empty() ? "empty" : "'" + std::string(text) + "'") + ", but ";
  if (is_key_text(i)) throw Failure(column + "every row belongs to a " + texts_->key_word());
  if (filled_[i] > 0)
    throw Failure(column + "other elements of '" + port.name + "' are not" + (text.empty() ? "" : " missing"));
  if (missing_ == Missing::nan)
    throw Failure(column + "'" + port.name + "' is " + type_text(port) + ", which has no NaN" + mend_of_missing(port));
  throw Failure(column + "'" + port.name + "' is present at every cycle (clock " + port.clock + ")" +
                mend_of_missing(port));
}

void CsvReader::derive_flags() {
  derived_.settle(row_, [&](std::uint32_t port) { return place(port) + cycle_text(); }, "not a column of the file");
}

void CsvReader::keep_cells() {
  if (kept_columns_.empty()) return;
  std::string cells;
  for (std::size_t k = 0; k < kept_columns_.size(); ++k) {
    if (k > 0) cells += ',';
    append_csv_cell(cells, field_content(field(kept_columns_[k])));
  }
  kept_->add(std::move(cells));
}

std::string_view CsvReader::field(std::size_t column) const {
  const char* at = starts_[column];
  return take_field(at, records_.record().data() + records_.record().size(), records_.separator());
}

Place CsvReader::where(std::uint32_t port) const {
  if (first_[port] == names_.size()) return {records_.line(), 0};
  return records_.where(starts_[first_[port]]);
}

}  // namespace

std::unique_ptr<RowSource> read_csv(ByteSource bytes, Row& row, const Ports& wanted, CsvForm form) {
  return std::make_unique<CsvReader>(std::move(bytes), row, wanted, form);
}

}  // namespace rml::rt
