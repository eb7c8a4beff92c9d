// Writes JSON lines: one object per cycle, with keys in the order of the ports.
//
// Cells that are kept come first. Tensors are nested arrays, and an absent value is null. JSON has no NaN or
// infinities: they are written as the strings "NaN", "Infinity" and "-Infinity", which the reader accepts.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/stream_io/formats/writers.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {
namespace {

class JsonlWriter : public RowSink {
 public:
  // Writes JSON lines. `texts` are the ports whose values are texts; null if there are none.
  JsonlWriter(ByteSink bytes, const Row& row, const Ports& wanted, const ColumnTexts* texts)
      : bytes_(std::move(bytes)), row_(row), wanted_(wanted) {
    for (const std::uint32_t i : wanted_) {
      if (const KeyTable* const table = texts == nullptr ? nullptr : texts->keys_of(i)) key_table_ = table, key_ = i;
      keys_.push_back((keys_.empty() ? "{\"" : ",\"") + std::string(row_.port(i).name) + "\":");
    }
  }

  void write() override {
    for (std::size_t w = 0; w < wanted_.size(); ++w) {
      bytes_.append(keys_[w]);
      write_value(w);
    }
    bytes_.append("}\n");
  }

  void undetermined(std::int64_t) override {}
  void set_early(bool early) override { bytes_.set_early(early); }
  void flush() override { bytes_.flush(); }
  std::optional<std::uint64_t> settle() override { return bytes_.settle(); }
  void close() override { bytes_.close(); }

 protected:
  [[gnu::always_inline]] void write_value(std::size_t w) {
    const char* value = static_cast<const char*>(row_.data(wanted_[w]));
    if (!row_.is_present(wanted_[w])) {
      bytes_.append("null");
    } else if (key_table_ != nullptr && wanted_[w] == key_) {
      add_key(value);
    } else {
      add_axis(row_.port(wanted_[w]), 0, value);
    }
  }

 private:
  void add_key(const char* value) {
    std::uint32_t number = 0;
    std::memcpy(&number, value, sizeof number);
    bytes_.append(json_text(key_table_->text(number)));
  }

  void add_axis(const rml_port& port, std::uint32_t axis, const char*& value) {
    if (axis == port.rank) {
      add_scalar(port, value);
      value += dtype_bytes(port.dtype);
      return;
    }
    bytes_.append("[");
    for (std::uint64_t k = 0; k < port.dims[axis]; ++k) {
      if (k > 0) bytes_.append(",");
      add_axis(port, axis + 1, value);
    }
    bytes_.append("]");
  }

  void add_scalar(const rml_port& port, const char* value) {
    char* const begin = bytes_.room(longest_scalar);
    char* const end = format_scalar(port.dtype, value, begin, BoolText::word);
    if (is_float(port.dtype)) {
      if (*begin == 'n') return bytes_.append("\"NaN\"");
      if (*begin == 'i') return bytes_.append("\"Infinity\"");
      if (*begin == '-' && begin[1] == 'i') return bytes_.append("\"-Infinity\"");
    }
    bytes_.commit(end);
    // Readers take -0 for an integer, which has no sign, so it becomes -0.0.
    if (is_float(port.dtype) && std::string_view(begin, static_cast<std::size_t>(end - begin)) == "-0") {
      bytes_.append(".0");
    }
  }

 protected:
  ByteSink bytes_;
  const Row& row_;
  const Ports wanted_;
  std::vector<std::string> keys_;  // the text of each key with its punctuation

 private:
  const KeyTable* key_table_ = nullptr;  // null: no port is a key of the run that is a text
  std::uint32_t key_ = 0;                // index of the port that is a key
};

// Writes objects that begin with cells of the input, or with names of classes.
class JsonlTextWriter final : public JsonlWriter {
 public:
  JsonlTextWriter(ByteSink bytes, const Row& row, const Ports& wanted, KeptCells* kept, const ColumnTexts* texts)
      : JsonlWriter(std::move(bytes), row, wanted, texts), kept_(kept) {
    for (const std::uint32_t i : wanted) classes_.push_back(texts == nullptr ? nullptr : texts->of_output(i));
    if (kept_ == nullptr) return;
    for (const std::string& title : kept_->titles())
      titles_.push_back((titles_.empty() ? "{" : ",") + json_text(title) + ":");
    keys_.front().front() = ',';
    writer_ = kept_->add_writer();
  }

  // Writes whole rows only, and none after a row that could not be written.
  void write() override {
    if (failed_) return;
    failed_ = true;
    for (std::size_t w = 0; w < wanted_.size(); ++w)
      if (has_classes(w)) require_classes(row_, wanted_[w], *classes_[w], bytes_.name(), rows_ + 1);
    failed_ = false;
    if (kept_ != nullptr) write_kept();
    for (std::size_t w = 0; w < wanted_.size(); ++w) {
      bytes_.append(keys_[w]);
      if (has_classes(w)) {
        std::uint64_t element = 0;
        write_classes(w, 0, element);
      } else {
        write_value(w);
      }
    }
    bytes_.append("}\n");
    ++rows_;
  }

  void skip() override {
    if (kept_ != nullptr) kept_->next(writer_);
  }

 private:
  bool has_classes(std::size_t w) const { return classes_[w] != nullptr && row_.is_present(wanted_[w]); }

  void write_kept() {
    const std::vector<std::string> cells =
        cells_of(converted(kept_->next(writer_), kept_->form(), CellForm::json), CellForm::json);
    for (std::size_t k = 0; k < cells.size(); ++k) {
      bytes_.append(titles_[k]);
      bytes_.append(cells[k]);
    }
  }

  void write_classes(std::size_t w, std::uint32_t axis, std::uint64_t& element) {
    const rml_port& port = row_.port(wanted_[w]);
    if (axis == port.rank) return bytes_.append(json_text(class_name(row_, wanted_[w], element++, *classes_[w])));
    bytes_.append("[");
    for (std::uint64_t k = 0; k < port.dims[axis]; ++k) {
      if (k > 0) bytes_.append(",");
      write_classes(w, axis + 1, element);
    }
    bytes_.append("]");
  }

  KeptCells* const kept_;                  // null: no cells are kept
  std::size_t writer_ = 0;                 // number of this writer in kept_
  std::vector<std::string> titles_;        // the names of the kept cells with their punctuation
  std::vector<const ClassList*> classes_;  // by position in wanted_; null: numbers
  std::int64_t rows_ = 0;                  // rows written
  bool failed_ = false;                    // a row could not be written
};

}  // namespace

std::unique_ptr<RowSink> write_jsonl(ByteSink bytes, const Row& row, const Ports& wanted, KeptCells* kept,
                                     const ColumnTexts* texts) {
  const bool classes =
      texts != nullptr && std::ranges::any_of(wanted, [&](std::uint32_t i) { return texts->of_output(i) != nullptr; });
  if (kept != nullptr || classes) return std::make_unique<JsonlTextWriter>(std::move(bytes), row, wanted, kept, texts);
  return std::make_unique<JsonlWriter>(std::move(bytes), row, wanted, texts);
}

}  // namespace rml::rt
