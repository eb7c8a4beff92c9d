// Writes NumPy arrays: .npy (one stream) and .npz (a zip of .npy, one per stream).
//
// The header contains the number of rows, which is known only at the end. In a plain file, rows
// are written as they come, and the header is rewritten at close; a killed run leaves a file with
// the rows last settled. For a pipe, a compressor or an .npz, the rows are held until close. In
// an .npz, a stream that may be absent becomes two arrays: NAME with its present values, and
// NAME.present with a flag per cycle. All NaNs are written with the same bits.
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/nans.h"
#include "runtime/stream_io/bytes/zip.h"
#include "runtime/stream_io/cells/npy_texts.h"
#include "runtime/stream_io/formats/writers.h"
#include "runtime/stream_io/npy_array.h"

namespace rml::rt {
namespace {

std::string header_for(const rml_port& port, std::uint64_t rows) {
  return npy_header_text(npy_descr(port.dtype), rows, port.dims, port.rank);
}

std::string_view value_bytes(const Row& row, std::uint32_t port) {
  return {static_cast<const char*>(row.data(port)), row.port(port).elements * dtype_bytes(row.port(port).dtype)};
}

class NpyWriter final : public RowSink {
 public:
  NpyWriter(ByteSink bytes, const Row& row, std::uint32_t port, const std::optional<Settled>& before)
      : bytes_(std::move(bytes)), row_(row), port_(port), streams_(bytes_.patchable()) {
    if (before) rows_ = before->rows;
    if (streams_ && !before) bytes_.append(header_for(row_.port(port_), 0));
  }

  void write() override {
    ++rows_;
    std::string& values = streams_ ? value_ : held_;
    const std::size_t before = values.size();
    values.append(value_bytes(row_, port_));
    unify_nans(row_.port(port_).dtype, values.data() + before, values.size() - before);
    if (!streams_) return;
    bytes_.append(value_);
    value_.clear();
  }
  void undetermined(std::int64_t) override {}
  void flush() override { bytes_.flush(); }
  std::optional<std::uint64_t> settle() override {
    if (!streams_) return std::nullopt;
    bytes_.patch(0, header_for(row_.port(port_), rows_));
    return bytes_.settle();
  }
  void close() override {
    if (std::exchange(closed_, true)) return;
    const std::string header = header_for(row_.port(port_), rows_);
    if (streams_) {
      bytes_.patch(0, header);
    } else {
      bytes_.append(header);
      bytes_.append(held_);
    }
    bytes_.close();
  }

 private:
  ByteSink bytes_;
  const Row& row_;
  std::uint32_t port_;
  bool streams_;
  bool closed_ = false;
  std::uint64_t rows_ = 0;
  std::string held_, value_;  // values of all rows that are held, and of the current row
};

struct HeldStream {
  std::uint32_t port = 0;
  bool always = true;
  std::uint64_t row_bytes = 0, values = 0;
  std::string bytes;
  std::string present;             // presence of the port, a byte per cycle; unused if it is always present
  const KeyTable* keys = nullptr;  // not null: the values are numbers of texts
};

std::vector<std::string_view> texts_of(const HeldStream& stream) {
  std::vector<std::string_view> texts;
  for (std::size_t at = 0; at < stream.bytes.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t key = 0;
    std::memcpy(&key, stream.bytes.data() + at, sizeof key);
    texts.push_back(stream.keys->text(key));
  }
  return texts;
}

class NpzWriter final : public RowSink {
 public:
  NpzWriter(ByteSink bytes, const Row& row, const Ports& wanted, KeptCells* kept, const ColumnTexts* texts)
      : bytes_(std::move(bytes)), row_(row), kept_(kept) {
    if (kept_ != nullptr) writer_ = kept_->add_writer();
    for (const std::uint32_t i : wanted) {
      streams_.push_back({i, row.port(i).always != 0, value_bytes(row, i).size(), 0, {}, {}});
      if (texts != nullptr) streams_.back().keys = texts->keys_of(i);
    }
  }

  void write() override {
    if (kept_ != nullptr) hold_kept();
    for (HeldStream& stream : streams_) {
      const bool present = row_.is_present(stream.port);
      if (!stream.always) stream.present += present ? '\x01' : '\x00';
      if (!present) continue;
      stream.bytes.append(static_cast<const char*>(row_.data(stream.port)), stream.row_bytes);
      ++stream.values;
    }
  }
  void skip() override {
    if (kept_ != nullptr) kept_->next(writer_);
  }
  void undetermined(std::int64_t) override {}
  void flush() override {}
  std::optional<std::uint64_t> settle() override { return std::nullopt; }
  void close() override {
    if (std::exchange(closed_, true)) return;
    ZipWriter zip(bytes_);
    add_kept(zip);
    for (HeldStream& stream : streams_) {
      const rml_port& port = row_.port(stream.port);
      if (stream.keys != nullptr) {
        zip.add(std::string(port.name) + ".npy", npy_of_texts(texts_of(stream)));
        continue;
      }
      unify_nans(port.dtype, stream.bytes.data(), stream.bytes.size());
      zip.add(std::string(port.name) + ".npy", header_for(port, stream.values) + std::exchange(stream.bytes, {}));
      if (port.always) continue;
      zip.add(std::string(port.name) + ".present.npy",
              npy_header_text(npy_descr(RML_BOOL), stream.present.size(), nullptr, 0) + stream.present);
    }
    zip.finish();
    bytes_.close();
  }

 private:
  // Not inlined: rows without kept cells are written often.
  [[gnu::noinline]] void hold_kept() { kept_lines_.push_back(kept_->next(writer_)); }

  // An array of texts for each kept column; a cell without a value is an empty text.
  void add_kept(ZipWriter& zip) {
    if (kept_ == nullptr) return;
    std::vector<std::vector<std::string>> columns(kept_->columns());
    for (const std::string& line : kept_lines_) {
      const auto texts = texts_of(line, kept_->form());
      for (std::size_t k = 0; k < columns.size(); ++k) columns[k].push_back(texts[k].value_or(""));
    }
    for (std::size_t k = 0; k < columns.size(); ++k)
      zip.add(kept_->titles()[k] + ".npy", npy_of_texts({columns[k].begin(), columns[k].end()}));
  }

  ByteSink bytes_;
  const Row& row_;
  std::vector<HeldStream> streams_;
  KeptCells* const kept_;                // null: no cells are kept
  std::size_t writer_ = 0;               // number of this writer in kept_
  std::vector<std::string> kept_lines_;  // the kept cells of all rows
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<RowSink> write_npy(ByteSink bytes, const Row& row, std::uint32_t port,
                                   const std::optional<Settled>& before) {
  return std::make_unique<NpyWriter>(std::move(bytes), row, port, before);
}

std::unique_ptr<RowSink> write_npz(ByteSink bytes, const Row& row, const Ports& wanted, KeptCells* kept,
                                   const ColumnTexts* texts) {
  return std::make_unique<NpzWriter>(std::move(bytes), row, wanted, kept, texts);
}

}  // namespace rml::rt
