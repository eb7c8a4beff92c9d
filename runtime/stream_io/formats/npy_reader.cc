// Reads NumPy arrays: .npy (one stream) and .npz (a zip of .npy, one per stream).
//
// The leading axis is time, and the others are the shape of the port. Every row is present. Rows
// are read one by one, so an array may be larger than memory. Big-endian arrays are converted.
// Arrays in Fortran order have time as the fastest axis and would have to be held as a whole;
// they are refused, with a fix-it.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/bytes/zip.h"
#include "runtime/stream_io/cells/npy_texts.h"
#include "runtime/stream_io/formats/readers.h"
#include "runtime/stream_io/npy_array.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

class NpyReader final : public RowSource {
 public:
  NpyReader(ByteSource bytes, Row& row, std::uint32_t port)
      : bytes_(std::move(bytes)), row_(row), port_(port), header_(read_npy_header(bytes_)) {
    check_type();
    check_shape();
    alike_ = lie_alike(header_, row_.port(port_).dtype);
  }

  bool read() override {
    if (cycle_ == rows_) return false;
    const std::uint64_t bytes = row_bytes_;
    if (!bytes_.at_least(bytes)) {
      throw Failure(name() + ": truncated at cycle " + std::to_string(cycle_) + ": " + std::to_string(rows_) +
                    " rows of " + std::to_string(bytes) + " bytes promised (" + std::to_string(rows_ * bytes) +
                    " bytes), " + std::to_string(cycle_ * bytes + bytes_.size()) + " bytes there");
    }
    take(1, row_.data(port_));
    row_.set_present(port_, true);
    return true;
  }
  std::uint32_t rows_at_hand(std::uint32_t most) override {
    if (row_bytes_ == 0 || cycle_ == rows_ || !bytes_.at_least(row_bytes_)) return 0;
    return static_cast<std::uint32_t>(std::min({std::uint64_t{most}, rows_ - cycle_, bytes_.size() / row_bytes_}));
  }
  void take_rows(std::uint32_t rows, char* const* to) override { take(rows, to[port_]); }
  Place where(std::uint32_t) const override { return {}; }
  double fraction() const override { return rows_ == 0 ? 1 : static_cast<double>(cycle_) / static_cast<double>(rows_); }
  const std::string& name() const override { return bytes_.name(); }
  bool can_go_back() const override { return bytes_.can_seek(); }
  void mark(std::vector<Mark>& marks) const override {
    marks.push_back({bytes_.offset(), 0, static_cast<std::int64_t>(cycle_)});
  }
  const Mark* go_to(const Mark* marks) override {
    bytes_.seek(marks->offset);
    cycle_ = static_cast<std::uint64_t>(marks->row);
    return marks + 1;
  }

 private:
  void take(std::uint64_t rows, void* to) {
    const rml_port& port = row_.port(port_);
    const std::uint64_t bytes = rows * row_bytes_;
    if (!alike_)
      convert_elements(header_, bytes_.begin(), port.dtype, to, rows * port.elements);
    else if (bytes > 0)
      copy_value(to, bytes_.begin(), bytes);
    bytes_.consume(bytes);
    cycle_ += rows;
  }

  void check_type() const {
    const rml_port& port = row_.port(port_);
    if (converts_safely(header_, port.dtype)) return;
    throw Failure(name() + ": elements are " + npy_type_name(header_) + ", but input '" + port.name + "' is " +
                  std::string(dtype_name(port.dtype)) + ", which does not hold every " + npy_type_name(header_) +
                  "; convert the array first (astype)");
  }

  void check_shape() {
    const rml_port& port = row_.port(port_);
    bool same = header_.shape.size() == port.rank + std::size_t{1};
    for (std::uint32_t axis = 0; same && axis < port.rank; ++axis) same = header_.shape[axis + 1] == port.dims[axis];
    if (!same) {
      std::string wanted = "(cycles";
      for (std::uint32_t axis = 0; axis < port.rank; ++axis) wanted += ", " + std::to_string(port.dims[axis]);
      throw Failure(name() + ": the array's shape is " + shape_text(header_.shape) + ", but input '" + port.name +
                    "' (" + type_text(port) + ") needs " + wanted + (port.rank == 0 ? ",)" : ")"));
    }
    if (header_.fortran_order && port.rank > 0) {
      throw Failure(name() +
                    ": the array is in Fortran order, which cannot be read cycle by cycle; store "
                    "numpy.ascontiguousarray of it");
    }
    rows_ = header_.shape[0];
    std::uint64_t total = 0;
    if (__builtin_mul_overflow(port.elements, header_.bytes, &row_bytes_) ||
        __builtin_mul_overflow(row_bytes_, rows_, &total)) {
      throw Failure(name() + ": the array's shape " + shape_text(header_.shape) + " is impossibly large");
    }
  }

  ByteSource bytes_;
  Row& row_;
  std::uint32_t port_;
  NpyHeader header_;
  std::uint64_t rows_ = 0;
  std::uint64_t row_bytes_ = 0;
  bool alike_ = false;
  std::uint64_t cycle_ = 0;
};

// Owns the bytes of the archive while its entries are read.
class NpzReader final : public RowSource {
 public:
  NpzReader(ByteSource bytes, Row& row, const Ports& wanted, KeptCells* kept) : bytes_(std::move(bytes)) {
    const std::vector<ZipEntry> entries = list_zip(name(), bytes_.whole());
    std::vector<std::unique_ptr<RowSource>> sources;
    std::vector<Ports> ports;
    for (const std::uint32_t i : wanted) {
      sources.push_back(read_npy(open_zip_entry(name(), find(entries, row.port(i))), row, i));
      ports.push_back({i});
    }
    entries_ = equal_length(std::move(sources), std::move(ports), row);
    if (kept != nullptr) find_kept(*kept, entries);
  }

  bool read() override {
    if (kept_ != nullptr) return read_and_keep();
    return entries_->read();
  }
  void drop() override {
    if (kept_ != nullptr) kept_->drop_last();
  }
  std::uint32_t rows_at_hand(std::uint32_t most) override {
    return kept_ == nullptr ? entries_->rows_at_hand(most) : 0;
  }
  void take_rows(std::uint32_t rows, char* const* to) override { entries_->take_rows(rows, to); }
  Place where(std::uint32_t) const override { return {}; }
  const std::string& file(std::uint32_t port) const override { return entries_->file(port); }
  double fraction() const override { return entries_->fraction(); }
  const std::string& name() const override { return bytes_.name(); }
  bool can_go_back() const override { return entries_->can_go_back(); }
  void mark(std::vector<Mark>& marks) const override { entries_->mark(marks); }
  const Mark* go_to(const Mark* marks) override { return entries_->go_to(marks); }

 private:
  const ZipEntry& find(const std::vector<ZipEntry>& entries, const rml_port& port) const {
    const std::string wanted = std::string(port.name) + ".npy";
    std::vector<std::string> others;
    for (const ZipEntry& entry : entries) {
      if (entry.name == wanted) return entry;
      others.push_back(entry.name.substr(0, entry.name.rfind(".npy")));
    }
    throw Failure(name() + ": no array '" + port.name + "' for input '" + port.name + "' (" + type_text(port) + ")" +
                  did_you_mean(port.name, others));
  }

  void find_kept(KeptCells& kept, const std::vector<ZipEntry>& entries) {
    std::vector<HeaderField> fields;
    for (const ZipEntry& entry : entries) {
      const std::string array = entry.name.substr(0, entry.name.rfind(".npy"));
      fields.push_back({array, array});
    }
    for (const std::size_t at : kept.find(name(), name(), fields)) {
      kept_ = &kept;
      kept_arrays_.emplace_back(fields[at].text, NpyTexts(open_zip_entry(name(), entries[at])));
    }
  }

  // Not inlined: rows without kept cells are read often.
  [[gnu::noinline]] bool read_and_keep() {
    const bool there = entries_->read();
    for (const auto& [array, texts] : kept_arrays_)
      if (there != (rows_ < texts.rows()))
        throw Failure(name() + ": array '" + array + "' has " + std::to_string(texts.rows()) +
                      " rows, but the inputs have " + (there ? "more" : std::to_string(rows_)));
    if (!there) return false;
    std::string cells;
    for (auto& [array, texts] : kept_arrays_) {
      if (&texts != &kept_arrays_.front().second) cells += ',';
      append_csv_cell(cells, texts.next());
    }
    kept_->add(std::move(cells));
    ++rows_;
    return true;
  }

  ByteSource bytes_;
  std::unique_ptr<RowSource> entries_;
  KeptCells* kept_ = nullptr;  // null unless this reader keeps cells
  std::vector<std::pair<std::string, NpyTexts>> kept_arrays_;
  std::uint64_t rows_ = 0;  // rows read, if it keeps cells
};

}  // namespace

std::unique_ptr<RowSource> read_npy(ByteSource bytes, Row& row, std::uint32_t port) {
  return std::make_unique<NpyReader>(std::move(bytes), row, port);
}

std::unique_ptr<RowSource> read_npz(ByteSource bytes, Row& row, const Ports& wanted, KeptCells* kept) {
  return std::make_unique<NpzReader>(std::move(bytes), row, wanted, kept);
}

}  // namespace rml::rt
