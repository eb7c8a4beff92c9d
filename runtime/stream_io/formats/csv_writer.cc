// Writes CSV rows (RFC 4180, with LF as line end).
//
// The header is written immediately, unless the file is continued. Names with a comma (`x[1,2]`)
// are quoted. An absent value is written as empty fields; in a file with a single column it is
// `""`, because other readers may skip blank lines. Rows are formatted directly in the buffer of
// the sink.
#include <cstring>
#include <string>
#include <utility>

#include "runtime/stream_io/formats/writers.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {
namespace {

class CsvWriter : public RowSink {
 public:
  CsvWriter(ByteSink bytes, const Row& row, const Ports& wanted)
      : bytes_(std::move(bytes)), row_(row), wanted_(wanted) {
    for (const std::uint32_t i : wanted_) columns_ += row_.port(i).elements;
  }

  // Writes the names of the columns. The names of kept columns precede them; `kept` is null if
  // there are none.
  void write_header(const KeptCells* kept) { bytes_.append(csv_header(row_, wanted_, kept)); }

  void write() override {
    bool first = true;
    for (const std::uint32_t i : wanted_) write_numbers(i, first);
    end_row();
  }

  void undetermined(std::int64_t) override {}
  void set_early(bool early) override { bytes_.set_early(early); }
  void flush() override { bytes_.flush(); }
  std::optional<std::uint64_t> settle() override { return bytes_.settle(); }
  void close() override { bytes_.close(); }

 protected:
  [[gnu::always_inline]] void write_numbers(std::uint32_t i, bool& first) {
    const rml_port& port = row_.port(i);
    const std::uint64_t size = dtype_bytes(port.dtype);
    const char* value = static_cast<const char*>(row_.data(i));
    const bool present = row_.is_present(i);
    for (std::uint64_t k = 0; k < port.elements; ++k, value += size) {
      char* to = bytes_.room(longest_scalar + 2);
      if (!std::exchange(first, false)) *to++ = ',';
      if (present) to = format_scalar(port.dtype, value, to, BoolText::word);
      bytes_.commit(to);
    }
    if (!present && columns_ == 1 && port.elements == 1) bytes_.append("\"\"");
  }

  void end_row() {
    char* to = bytes_.room(1);
    *to++ = '\n';
    bytes_.commit(to);
  }

  ByteSink bytes_;
  const Row& row_;
  const Ports wanted_;
  std::uint64_t columns_ = 0;
};

// Writes rows with cells that are texts: kept cells, which precede all others, class names and
// keys.
class TextWriter final : public CsvWriter {
 public:
  TextWriter(ByteSink bytes, const Row& row, const Ports& wanted, const CsvRest& rest)
      : CsvWriter(std::move(bytes), row, wanted), kept_(rest.kept) {
    classes_.resize(wanted.size());
    for (std::size_t n = 0; n < wanted.size() && rest.texts != nullptr; ++n) {
      classes_[n] = rest.texts->of_output(wanted[n]);
      if (const KeyTable* const keys = rest.texts->keys_of(wanted[n])) keys_ = keys, key_ = n;
    }
    if (kept_ == nullptr) return;
    columns_ += kept_->columns();
    writer_ = kept_->add_writer();
  }

  // Writes whole rows only, and none after a row that could not be written.
  void write() override {
    if (failed_) return;
    failed_ = true;
    for (std::size_t n = 0; n < wanted_.size(); ++n)
      if (classes_[n] != nullptr && row_.is_present(wanted_[n]))
        require_classes(row_, wanted_[n], *classes_[n], bytes_.name(), rows_ + 1);
    failed_ = false;
    bool first = kept_ == nullptr;
    if (kept_ != nullptr) bytes_.append(converted(kept_->next(writer_), kept_->form(), CellForm::csv));
    for (std::size_t n = 0; n < wanted_.size(); ++n) {
      if (keys_ != nullptr && n == key_)
        write_key(wanted_[n], std::exchange(first, false));
      else if (classes_[n] != nullptr && row_.is_present(wanted_[n]))
        write_classes(wanted_[n], *classes_[n], std::exchange(first, false));
      else
        write_numbers(wanted_[n], first);
    }
    end_row();
    ++rows_;
  }

  void skip() override {
    if (kept_ != nullptr) kept_->next(writer_);
  }

 private:
  void write_key(std::uint32_t i, bool first) {
    std::uint32_t key = 0;
    std::memcpy(&key, row_.data(i), sizeof key);
    std::string cell = first ? "" : ",";
    append_csv_cell(cell, keys_->text(key), true);
    bytes_.append(cell);
  }

  void write_classes(std::uint32_t i, const ClassList& classes, bool first) {
    std::string cells;
    for (std::uint64_t k = 0; k < row_.port(i).elements; ++k) {
      if (k > 0 || !first) cells += ',';
      append_csv_cell(cells, class_name(row_, i, k, classes));
    }
    bytes_.append(cells);
  }

  KeptCells* const kept_;                  // cells that are copied from the input; null: none
  std::size_t writer_ = 0;                 // number of this writer in kept_
  std::vector<const ClassList*> classes_;  // one per port: its classes; null: the port's values are numbers
  const KeyTable* keys_ = nullptr;         // the keys that are texts; null: no port is a key that is a text
  std::size_t key_ = 0;                    // position in wanted_ of the port that is the key
  std::int64_t rows_ = 0;                  // number of rows written
  bool failed_ = false;                    // true if a row could not be written
};

}  // namespace

std::string csv_header(const Row& row, const Ports& wanted, const KeptCells* kept) {
  bool first = kept == nullptr;
  std::string line = first ? "" : kept->header();
  for (const std::uint32_t i : wanted) {
    const rml_port& port = row.port(i);
    for (std::uint64_t k = 0; k < port.elements; ++k) {
      if (!std::exchange(first, false)) line += ',';
      append_csv_cell(line, element_name(port, k));
    }
  }
  return line + "\n";
}

std::unique_ptr<RowSink> write_csv(ByteSink bytes, const Row& row, const Ports& wanted, CsvRest rest) {
  std::unique_ptr<CsvWriter> writer;
  if (rest.kept != nullptr || (rest.texts != nullptr && rest.texts->any_of(wanted)))
    writer = std::make_unique<TextWriter>(std::move(bytes), row, wanted, rest);
  else
    writer = std::make_unique<CsvWriter>(std::move(bytes), row, wanted);
  if (!rest.again) writer->write_header(rest.kept);
  return writer;
}

}  // namespace rml::rt
