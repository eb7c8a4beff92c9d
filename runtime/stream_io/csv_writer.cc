// CSV rows out (RFC 4180 with LF line ends).
//
// The header is written at once, unless the file is gone on with. Names with a comma (`x[1,2]`) are quoted. An absent
// value is empty fields; where the file has one column only, `""`, as a blank line may be skipped by other readers. The
// row is formatted straight into the sink's buffer.
#include <string>
#include <utility>

#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/writers.h"

namespace rml::rt {
namespace {

class CsvWriter final : public RowSink {
 public:
  CsvWriter(ByteSink bytes, const Row& row, const Ports& wanted, CsvRest rest)
      : bytes_(std::move(bytes)), row_(row), wanted_(wanted), kept_(rest.kept) {
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
  std::size_t writer_ = 0;  // of kept_
  std::uint64_t columns_ = 0;
};

}  // namespace

std::unique_ptr<RowSink> write_csv(ByteSink bytes, const Row& row, const Ports& wanted, CsvRest rest) {
  return std::make_unique<CsvWriter>(std::move(bytes), row, wanted, rest);
}

}  // namespace rml::rt
