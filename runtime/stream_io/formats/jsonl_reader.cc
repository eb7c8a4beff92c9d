// Reads JSON lines: one object per cycle; blank lines are skipped, but a blank message is an error.
//
// A key names an input. Tensors are arrays nested according to the shape. A null or a missing key
// means absent, or follows --missing. Other keys are ignored. Floats may also be the strings
// "NaN", "Infinity" and "-Infinity".
//
// nlohmann's SAX parser drives a small automaton that stores the values directly in the row. The
// text of floats is converted here, because the parser's conversion to double would round f32
// twice.
#include <algorithm>
#include <charconv>
#include <clocale>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/readers.h"
#include "runtime/stream_io/missing_cells.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/spelling.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

// Handles one object: remembers the input whose value is being read and the depth in its arrays.
// Every handler returns false after an error, whose text is in `error`.
class ObjectHandler {
  // number of the parser's exception for numbers out of range
  static constexpr int number_overflow = 406;

 public:
  // texts: the ports whose values are texts, or null. null_is_nan: a null within a tensor of
  // floats is NaN.
  ObjectHandler(Row& row, const Ports& wanted, const ColumnTexts* texts, bool null_is_nan)
      : row_(row), texts_(texts), null_is_nan_(null_is_nan), seen_(row.size(), false) {
    texts_of_.assign(row.size(), 0);
    for (const std::uint32_t i : wanted) {
      ports_[row.port(i).name] = i;
      if (texts != nullptr && texts->of_input(i)) texts_of_[i] = 1;
    }
    // The parser uses the decimal point of the locale in the text of a number.
    decimal_point_ = *std::localeconv()->decimal_point;
  }

  void begin() {
    seen_.assign(seen_.size(), false);
    unknown_.clear();
    error_.clear();
    too_large_.clear();
    error_at_ = 0;
    depth_ = 0;
    port_ = nullptr;
  }
  bool seen(std::uint32_t port) const { return seen_[port]; }
  const std::vector<std::string>& unknown() const { return unknown_; }
  const std::string& error() const { return error_; }
  // in bytes from the start of the line; 0: unknown
  std::size_t error_at() const { return error_at_; }
  // The text, ending at error_at(), of a number beyond f64 in a value that is ignored; empty if
  // there is none.
  const std::string& too_large() const { return too_large_; }

  bool null() {
    if (!inside("null")) return false;
    if (!port_) return true;
    if (depth_ > 1 && null_is_nan_ && is_float(port_->dtype)) return scalar("nan");
    if (depth_ > 1) return fail("null inside a tensor");
    seen_[index_] = false;
    port_ = nullptr;
    return true;
  }
  bool boolean(bool value) {
    if (!inside("a Boolean")) return false;
    if (!port_) return true;
    if (is_text_) return text_value(value ? "true" : "false");
    if (port_->dtype != RML_BOOL) return fail(std::string(value ? "true" : "false") + " is not " + type_name());
    return scalar(value ? "true" : "false");
  }
  bool number_integer(std::int64_t value) {
    char text[24];
    return number({text, std::to_chars(text, text + sizeof text, value).ptr});
  }
  bool number_unsigned(std::uint64_t value) {
    char text[24];
    return number({text, std::to_chars(text, text + sizeof text, value).ptr});
  }
  bool number_float(double, const std::string& text) {
    if (port_ && is_key())
      return fail(text + " is not a " + texts_->key_word() + ": it is a text, an integer or a Boolean");
    if (decimal_point_ == '.') return number(text);
    std::string plain = text;
    for (char& c : plain) c = c == decimal_point_ ? '.' : c;
    return number(plain);
  }
  bool string(const std::string& text) {
    if (!inside("a string")) return false;
    if (!port_) return true;
    if (is_text_) return text_value(text);
    const bool special = text == "NaN" || text == "Infinity" || text == "-Infinity";
    if (is_float(port_->dtype) && special) return scalar(text);
    return fail("a string is not " + type_name());
  }
  bool binary(const nlohmann::json::binary_t&) { return fail("binary value"); }

  bool start_object(std::size_t) {
    if (depth_ == 0) {
      depth_ = 1;
      return true;
    }
    if (port_) return fail("an object is not " + type_name());
    ++depth_;
    return inside("an object");
  }
  bool key(const std::string& name) {
    if (depth_ != 1) return true;
    const auto it = ports_.find(name);
    if (it == ports_.end()) {
      port_ = nullptr;
      if (unknown_.size() < 100 && name.size() < 100) unknown_.push_back(name);
      return true;
    }
    index_ = it->second;
    port_ = &row_.port(index_);
    is_text_ = texts_of_[index_] != 0;
    if (seen_[index_]) return fail("key '" + shortened(name) + "' appears twice");
    seen_[index_] = true;
    to_ = static_cast<char*>(row_.data(index_));
    counts_.assign(port_->rank, 0);
    return true;
  }
  bool end_object() {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    if (!inside("an array")) return false;
    ++depth_;
    if (!port_) return true;
    const std::size_t axis = depth_ - 2;
    if (axis >= port_->rank) return fail("too many brackets for " + type_name());
    if (axis > 0 && !count(axis - 1)) return false;
    counts_[axis] = 0;
    return true;
  }
  bool end_array() {
    --depth_;
    if (!port_) return true;
    const std::size_t axis = depth_ - 1;
    if (counts_[axis] != port_->dims[axis]) {
      return fail("an array of " + std::to_string(counts_[axis]) + " where " + type_name() + " has " +
                  std::to_string(port_->dims[axis]));
    }
    if (axis == 0) port_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& problem) {
    error_at_ = position;
    if (problem.id == number_overflow) {
      if (port_ == nullptr) too_large_ = token;
      if (port_ != nullptr) error_at_ = 0;
      if (port_ != nullptr && number_float(0, token)) error_ = "'" + shortened(token) + "' is too large";
      return false;
    }
    const std::string text = problem.what();
    const std::size_t detail = text.find(": ");
    error_ = "not valid JSON: " + shortened(detail == text.npos ? text : text.substr(detail + 2));
    return false;
  }

 private:
  // Shortens a message of the parser, which quotes all text of a value, possibly millions of
  // characters.
  static std::string shortened(const std::string& text) {
    constexpr std::size_t most = 200;
    if (text.size() <= most) return text;
    std::size_t rest = text.size() - 60;
    while (rest < text.size() && (static_cast<unsigned char>(text[rest]) & 0xc0) == 0x80) ++rest;
    return text.substr(0, cut_before_character(text, most - 60)) + "…" + text.substr(rest);
  }
  bool fail(const std::string& text) {
    error_ = (port_ ? "'" + std::string(port_->name) + "': " : "") + text;
    return false;
  }
  std::string type_name() const { return is_key() ? std::string("a ") + texts_->key_word() : type_text(*port_); }
  bool is_key() const { return texts_ != nullptr && texts_->is_key(index_); }
  // A key, a time or the name of a class.
  bool text_value(const std::string& text) {
    if (!is_element()) return false;
    if (text.empty() || !texts_->parse(*port_, index_, text, to_)) return fail(texts_->complaint(index_, text));
    to_ += dtype_bytes(port_->dtype);
    if (port_->rank == 0) port_ = nullptr;
    return true;
  }
  bool inside(const char* what) {
    return depth_ > 0 || fail(std::string("expected an object of named values, found ") + what);
  }
  bool count(std::size_t axis) {
    if (counts_[axis]++ < port_->dims[axis]) return true;
    return fail("an array of more than " + std::to_string(port_->dims[axis]) + " where " + type_name() +
                " is expected");
  }
  bool number(std::string_view text) {
    if (!inside("a number")) return false;
    if (!port_) return true;
    if (is_text_) return text_value(std::string(text));
    if (port_->dtype == RML_BOOL) return fail("a number is not " + type_name());
    return scalar(text);
  }
  bool is_element() {
    if (depth_ - 1 != port_->rank) return fail("too few brackets for " + type_name());
    return port_->rank == 0 || count(port_->rank - 1);
  }
  bool scalar(std::string_view text) {
    if (!is_element()) return false;
    const Parsed result = parse_whole_scalar(port_->dtype, text, to_);
    if (result != Parsed::ok) return fail(parse_complaint(port_->dtype, result, text));
    to_ += dtype_bytes(port_->dtype);
    if (port_->rank == 0) port_ = nullptr;
    return true;
  }

  Row& row_;
  const ColumnTexts* const texts_;
  const bool null_is_nan_;
  std::unordered_map<std::string, std::uint32_t> ports_;
  std::vector<bool> seen_;
  std::vector<std::uint8_t> texts_of_;  // by port: its values are texts
  bool is_text_ = false;                // the current value is a text
  std::vector<std::string> unknown_;
  std::string error_, too_large_;
  std::size_t error_at_ = 0;
  std::size_t depth_ = 0;           // number of open brackets and braces
  const rml_port* port_ = nullptr;  // port of the current value; null: none
  std::uint32_t index_ = 0;
  char* to_ = nullptr;
  std::vector<std::uint64_t> counts_;  // one per axis: number of items so far
  char decimal_point_ = '.';
};

class JsonlReader final : public RowSource {
 public:
  JsonlReader(ByteSource bytes, Row& row, const Ports& wanted, const JsonlForm& form)
      : bytes_(std::move(bytes)),
        row_(row),
        wanted_(wanted),
        texts_(form.texts),
        missing_(form.missing),
        kept_(form.kept != nullptr && form.kept->find_in_objects(bytes_.name()) ? form.kept : nullptr),
        messages_(form.messages),
        silent_(form.silent),
        handler_(row, wanted, form.texts, form.missing == Missing::nan) {
    for (const std::uint32_t i : wanted) {
      DerivedFlags flag;
      if (missing_ == Missing::absent && row.port(i).always && flag.add(row, i, wanted)) flags_.emplace_back(i, flag);
    }
  }

  bool read() override {
    ++cycle_;
    if (!next_row()) return false;
    try {
      parse_row();
    } catch (const TooManyKeys&) {
      throw;
    } catch (const Failure& failure) {
      --cycle_;
      throw BadRow(failure.what(), line_);
    }
    return true;
  }
  void drop() override {
    --cycle_;
    if (kept_ != nullptr) kept_->drop_last();
  }
  void read_nothing() override {
    if (kept_ != nullptr) kept_->add_none();
  }
  std::string_view text() const override { return line_; }
  Place where(std::uint32_t) const override { return {number_, 0}; }
  double fraction() const override { return bytes_.fraction(); }
  const std::string& name() const override { return bytes_.name(); }
  bool can_go_back() const override { return bytes_.can_seek(); }
  void mark(std::vector<Mark>& marks) const override {
    marks.push_back({bytes_.offset() + length_, number_, cycle_ + 1});
  }
  const Mark* go_to(const Mark* marks) override {
    bytes_.seek(marks->offset);
    length_ = 0;
    number_ = marks->line;
    cycle_ = marks->row - 1;
    return marks + 1;
  }

 private:
  // Blank lines are skipped; a blank message is not valid.
  bool next_row() {
    try {
      do {
        if (!next_line()) return false;
      } while (!messages_ && trimmed(line_).empty());
      return true;
    } catch (const RefusedRow& refused) {
      ++number_;
      throw BadRow(refused.at_cycle(cycle_--).what(), refused.row());
    }
  }
  void parse_row() {
    if (messages_ && trimmed(line_).empty())
      throw Failure(name() + cycle_text() + "message " + std::to_string(number_) + " is empty");
    // The parser treats a zero byte as the end of the input, so it is refused here.
    if (const std::size_t zero = line_.find('\0'); zero != line_.npos) {
      throw Failure(name() + ":" + std::to_string(number_) + ":" +
                    std::to_string(characters(line_.substr(0, zero + 1))) + cycle_text() +
                    "not valid JSON: a zero byte");
    }
    if (!parse(line_)) {
      const std::size_t at = handler_.error_at();
      const std::string column = at > 0 ? ":" + std::to_string(characters(line_.substr(0, at))) : "";
      throw Failure(name() + ":" + std::to_string(number_) + column + cycle_text() + handler_.error());
    }
    for (const std::uint32_t i : wanted_) {
      const rml_port& port = row_.port(i);
      row_.set_present(i, handler_.seen(i));
      if (handler_.seen(i)) continue;
      if (missing_ == Missing::nan && is_float(port.dtype) && is_due(i))
        fill_with_nan(row_, i);
      else if (port.always && !follows(i))
        throw Failure(place(i) + cycle_text() + "no value for '" + port.name +
                      "', which is present at every cycle (clock " + port.clock + ")" + mend(i));
    }
    // A flag without a key follows from its inputs.
    for (const auto& [flag, derived] : flags_)
      if (!handler_.seen(flag)) derive(derived);
    if (kept_ != nullptr) keep_cells();
  }
  bool follows(std::uint32_t port) const {
    return std::ranges::any_of(flags_, [&](const auto& flag) { return flag.first == port; });
  }
  bool is_due(std::uint32_t port) const {
    if (row_.port(port).always) return true;
    const auto sampler = sampler_of(row_, port);
    if (sampler && sampler->flag == silent_) return !sampler->positive;
    if (!sampler || !handler_.seen(sampler->flag)) return false;
    return (*static_cast<const std::uint8_t*>(row_.data(sampler->flag)) != 0) == sampler->positive;
  }
  // A field that no other row may have either is probably misspelt.
  void keep_cells() {
    std::string cells, lacking;
    for (const std::string_view raw : raw_members(line_, kept_->names(), cycle_ == 0 ? &lacking : nullptr))
      cells += (cells.empty() ? "[" : ",") + std::string(raw);
    const std::string near = lacking.empty() ? "" : did_you_mean(lacking, handler_.unknown());
    if (!near.empty())
      throw Failure(name() + ":" + std::to_string(number_) + cycle_text() + "no field '" + lacking + "' to keep" +
                    near);
    kept_->add(cells + "]");
  }
  void derive(const DerivedFlags& flag) {
    flag.settle(row_, [&](std::uint32_t port) { return place(port) + cycle_text(); }, "not in the row");
  }
  // The fix-it for an input without a value, as in CSV.
  std::string mend(std::uint32_t i) const {
    const rml_port& port = row_.port(i);
    const std::string near = did_you_mean(port.name, handler_.unknown());
    if (!near.empty() || (texts_ != nullptr && texts_->is_key(i))) return near;
    if (const auto sampled = sampled_by(row_, i, wanted_)) {
      const std::string other = row_.port(*sampled).name;
      return "; it says when '" + other + "' is present: --missing absent derives it from '" + other + "'";
    }
    return mend_of_missing(port);
  }

  // The parser refuses numbers beyond f64. If such a number is in a value that is ignored, it is
  // replaced by 0 and the line is parsed again.
  bool parse(std::string_view text) {
    std::string changed;
    while (true) {
      handler_.begin();
      if (nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &handler_)) return true;
      const std::size_t length = handler_.too_large().size(), end = handler_.error_at();
      if (length == 0 || end < length || end > text.size()) return false;
      if (changed.empty()) changed = text;
      changed.replace(end - length, length, "0" + std::string(length - 1, ' '));
      text = changed;
    }
  }
  bool next_line() {
    bytes_.consume(length_);
    length_ = 0;
    std::size_t scanned = 0;
    while (true) {
      const std::size_t size = bytes_.size();
      const void* found = size > scanned ? std::memchr(bytes_.begin() + scanned, '\n', size - scanned) : nullptr;
      if (!found && bytes_.more()) {
        scanned = size;
        continue;
      }
      if (!found && size == 0) return false;
      const std::size_t end = found ? static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.begin()) : size;
      length_ = found ? end + 1 : end;
      line_ = {bytes_.begin(), end};
      if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
      if (++number_ == 1 && line_.substr(0, 3) == "\xef\xbb\xbf") line_.remove_prefix(3);
      return true;
    }
  }
  std::string cycle_text() const { return ": cycle " + std::to_string(cycle_) + ": "; }

  ByteSource bytes_;
  Row& row_;
  Ports wanted_;
  const ColumnTexts* const texts_;
  const Missing missing_;
  KeptCells* const kept_;  // null unless this reader keeps cells
  const bool messages_;
  const std::optional<std::uint32_t> silent_;
  ObjectHandler handler_;
  std::vector<std::pair<std::uint32_t, DerivedFlags>> flags_;  // flags that --missing absent derives
  std::string_view line_;
  std::size_t length_ = 0;  // length of the line, including the line end
  std::int64_t number_ = 0;
  std::int64_t cycle_ = -1;
};

}  // namespace

std::unique_ptr<RowSource> read_jsonl(ByteSource bytes, Row& row, const Ports& wanted, JsonlForm form) {
  return std::make_unique<JsonlReader>(std::move(bytes), row, wanted, form);
}

}  // namespace rml::rt
