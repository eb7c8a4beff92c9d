// Writes JSON lines: one object per cycle, with keys in the order of the ports.
//
// Tensors are nested arrays, and an absent value is null. JSON has no NaN or infinities: they are
// written as the strings "NaN", "Infinity" and "-Infinity", which the reader accepts.
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/stream_io/scalar_text.h"
#include "runtime/stream_io/writers.h"

namespace rml::rt {
namespace {

class JsonlWriter final : public RowSink {
 public:
  // texts: the ports whose values are texts, or null.
  JsonlWriter(ByteSink bytes, const Row& row, const Ports& wanted, const ColumnTexts* texts)
      : bytes_(std::move(bytes)), row_(row), wanted_(wanted) {
    for (const std::uint32_t i : wanted_) {
      if (const KeyTable* const table = texts == nullptr ? nullptr : texts->keys_of(i)) key_table_ = table, key_ = i;
      keys_.push_back((keys_.empty() ? "{\"" : ",\"") + std::string(row_.port(i).name) + "\":");
    }
  }

  void write() override {
    for (std::size_t w = 0; w < wanted_.size(); ++w) {
      const rml_port& port = row_.port(wanted_[w]);
      bytes_.append(keys_[w]);
      const char* value = static_cast<const char*>(row_.data(wanted_[w]));
      if (!row_.is_present(wanted_[w])) {
        bytes_.append("null");
      } else if (key_table_ != nullptr && wanted_[w] == key_) {
        add_key(value);
      } else {
        add_axis(port, 0, value);
      }
    }
    bytes_.append("}\n");
  }

  void undetermined(std::int64_t) override {}
  void set_early(bool early) override { bytes_.set_early(early); }
  void flush() override { bytes_.flush(); }
  std::optional<std::uint64_t> settle() override { return bytes_.settle(); }
  void close() override { bytes_.close(); }

 private:
  void add_key(const char* value) {
    std::uint32_t number = 0;
    std::memcpy(&number, value, sizeof number);
    bytes_.append(
        nlohmann::json(key_table_->text(number)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
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

  ByteSink bytes_;
  const Row& row_;
  Ports wanted_;
  std::vector<std::string> keys_;        // the text of each key with its punctuation
  const KeyTable* key_table_ = nullptr;  // null: no port is a key of the run that is a text
  std::uint32_t key_ = 0;                // index of the port that is a key
};

}  // namespace

std::unique_ptr<RowSink> write_jsonl(ByteSink bytes, const Row& row, const Ports& wanted, const ColumnTexts* texts) {
  return std::make_unique<JsonlWriter>(std::move(bytes), row, wanted, texts);
}

}  // namespace rml::rt
