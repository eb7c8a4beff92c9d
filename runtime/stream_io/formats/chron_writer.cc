// Writes chronograms (docs/language.md, "Chronograms") with columns aligned to the right:
//
//   bp | F F T T F T
//   o  | 8 8 8 5 4 4
//
// The width of a cycle's column depends on all streams, and each stream has its own line. The
// texts of all cells are therefore held until close. Tensors are formatted as chron_reader.cc
// describes.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/stream_io/formats/writers.h"
#include "runtime/stream_io/value_text.h"
#include "runtime/stream_io/wanted_ports.h"

namespace rml::rt {
namespace {

struct Line {
  std::uint32_t port = 0;
  std::string text;                 // text of all cells, concatenated
  std::vector<std::uint64_t> ends;  // end of each cell in `text`
};

class ChronWriter final : public RowSink {
 public:
  ChronWriter(ByteSink bytes, const Row& row, const Ports& wanted) : bytes_(std::move(bytes)), row_(row) {
    for (const std::uint32_t i : wanted) lines_.push_back({i, {}, {}});
  }

  void write() override {
    for (Line& line : lines_) {
      const rml_port& port = row_.port(line.port);
      if (row_.is_present(line.port)) {
        append_value(port, row_.data(line.port), line.text);
      } else {
        line.text += '.';
      }
      line.ends.push_back(line.text.size());
    }
  }

  void undetermined(std::int64_t rows) override {
    for (Line& line : lines_) {
      for (std::int64_t k = 0; k < rows; ++k) {
        line.text += '?';
        line.ends.push_back(line.text.size());
      }
    }
  }

  // Does nothing, because a chronogram can only be written at the end of the run.
  void flush() override {}
  std::optional<std::uint64_t> settle() override { return std::nullopt; }

  void close() override {
    if (std::exchange(closed_, true)) return;
    std::size_t name_width = 0;
    std::vector<std::uint64_t> widths;
    for (const Line& line : lines_) {
      name_width = std::max(name_width, characters(row_.port(line.port).name));
      widths.resize(line.ends.size());
      std::uint64_t begin = 0;
      for (std::size_t k = 0; k < widths.size(); ++k) {
        widths[k] = std::max(widths[k], line.ends[k] - std::exchange(begin, line.ends[k]));
      }
    }
    for (const Line& line : lines_) write_line(line, name_width, widths);
    bytes_.close();
  }

 private:
  void write_line(const Line& line, std::size_t name_width, const std::vector<std::uint64_t>& widths) {
    const std::string name = row_.port(line.port).name;
    bytes_.append(name + std::string(name_width - characters(name), ' ') + " |");
    std::uint64_t begin = 0;
    for (std::size_t k = 0; k < widths.size(); ++k) {
      const std::uint64_t length = line.ends[k] - begin;
      bytes_.append(std::string(1 + widths[k] - length, ' '));
      bytes_.append(std::string_view(line.text).substr(begin, length));
      begin = line.ends[k];
    }
    bytes_.append("\n");
  }

  ByteSink bytes_;
  const Row& row_;
  std::vector<Line> lines_;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<RowSink> write_chron(ByteSink bytes, const Row& row, const Ports& wanted) {
  return std::make_unique<ChronWriter>(std::move(bytes), row, wanted);
}

}  // namespace rml::rt
