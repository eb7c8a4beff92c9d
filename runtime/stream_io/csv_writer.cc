// CSV rows out (RFC 4180 with LF line ends).
//
// The header is written at once, unless the file is gone on with. Names with a comma (`x[1,2]`) are quoted. An absent
// value is empty fields; where the file has one column only, `""`, as a blank line may be skipped by other readers. The
// row is formatted straight into the sink's buffer.
#include <charconv>
#include <string>
#include <utility>

#include "runtime/failure.h"
#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/writers.h"

namespace rml::rt {
namespace {

class CsvWriter final : public RowSink {
 public:
  CsvWriter(ByteSink bytes, const Row& row, const Ports& wanted, CsvRest rest)
      : bytes_(std::move(bytes)),
        row_(row),
        wanted_(wanted),
        kept_(rest.kept),
        texts_(rest.texts != nullptr && rest.texts->any_of(wanted) ? rest.texts : nullptr) {
    for (const std::uint32_t i : wanted_) columns_ += row_.port(i).elements;
    if (kept_ != nullptr) {
      columns_ += kept_->columns();
      writer_ = kept_->add_writer();
    }
    if (!rest.again) write_header();
  }

  void write_header() {
    bool first = kept_ == nullptr;
    if (kept_ != nullptr) bytes_.append(kept_->header());
    for (const std::uint32_t i : wanted_) {
      const rml_port& port = row_.port(i);
      for (std::uint64_t k = 0; k < port.elements; ++k) {
        const std::string name = element_name(port, k);
        if (!std::exchange(first, false)) bytes_.append(",");
        bytes_.append(name.find(',') == name.npos ? name : "\"" + name + "\"");
      }
    }
    bytes_.append("\n");
  }

  void write() override {
    bool first = kept_ == nullptr;
    if (kept_ != nullptr) bytes_.append(kept_->next(writer_));
    for (const std::uint32_t i : wanted_) {
      const rml_port& port = row_.port(i);
      const std::uint64_t size = dtype_bytes(port.dtype);
      const char* value = static_cast<const char*>(row_.data(i));
      const bool present = row_.is_present(i);
      if (const ClassList* const classes = texts_ == nullptr || !present ? nullptr : texts_->of_output(i)) {
        write_classes(port, value, *classes, std::exchange(first, false));
        continue;
      }
      for (std::uint64_t k = 0; k < port.elements; ++k, value += size) {
        char* to = bytes_.room(longest_scalar + 2);
        if (!std::exchange(first, false)) *to++ = ',';
        if (present) to = format_scalar(port.dtype, value, to, BoolText::word);
        bytes_.commit(to);
      }
      if (!present && columns_ == 1 && port.elements == 1) bytes_.append("\"\"");
    }
    char* to = bytes_.room(1);
    *to++ = '\n';
    bytes_.commit(to);
    ++rows_;
  }

  void write_classes(const rml_port& port, const char* value, const ClassList& classes, bool first) {
    const std::uint64_t size = dtype_bytes(port.dtype);
    std::string cells;
    for (std::uint64_t k = 0; k < port.elements; ++k, value += size) {
      if (k > 0 || !first) cells += ',';
      char text[longest_scalar];
      const std::string number(text, format_scalar(port.dtype, value, text, BoolText::word));
      std::size_t of = classes.names().size();
      std::from_chars(number.data(), number.data() + number.size(), of);
      if (of >= classes.names().size())
        throw Failure(bytes_.name() + ": row " + std::to_string(rows_ + 1) + ": output '" + port.name + "' is " +
                      number + ", but '" + classes.file() + "' has the classes 0 to " +
                      std::to_string(classes.names().size() - 1));
      append_csv_cell(cells, classes.names()[of]);
    }
    bytes_.append(cells);
  }

  void undetermined(std::int64_t) override {}
  void set_early(bool early) override { bytes_.set_early(early); }
  void flush() override { bytes_.flush(); }
  std::optional<std::uint64_t> settle() override { return bytes_.settle(); }
  void close() override { bytes_.close(); }

 private:
  ByteSink bytes_;
  const Row& row_;
  Ports wanted_;
  KeptCells* const kept_;
  const ColumnTexts* const texts_;  // null: all are written as numbers
  std::int64_t rows_ = 0;           // that have been written, if not
  std::size_t writer_ = 0;          // of kept_
  std::uint64_t columns_ = 0;
};

}  // namespace

std::unique_ptr<RowSink> write_csv(ByteSink bytes, const Row& row, const Ports& wanted, CsvRest rest) {
  return std::make_unique<CsvWriter>(std::move(bytes), row, wanted, rest);
}

}  // namespace rml::rt
