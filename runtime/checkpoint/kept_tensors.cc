// One tensor holds all lines, concatenated, and another one the end of each line.
#include "runtime/checkpoint/kept_tensors.h"

#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/rmlrt.h"

namespace rml::rt {
namespace {

constexpr const char* cells_name = "kept cells";
constexpr const char* ends_name = "kept ends";

}  // namespace

KeptTensors::KeptTensors(const KeptCells& kept, std::int64_t from, std::int64_t to, std::vector<TensorOut>& into) {
  if (kept.any()) add(kept.lines(from, to), into);
}

void KeptTensors::add(const std::vector<std::string>& lines, std::vector<TensorOut>& into) {
  for (const std::string& line : lines) {
    text_ += line;
    ends_.push_back(static_cast<std::int64_t>(text_.size()));
  }
  const std::string_view ends(reinterpret_cast<const char*>(ends_.data()), 8 * ends_.size());
  into.push_back({cells_name, RML_U8, {text_.size()}, {text_}});
  into.push_back({ends_name, RML_I64, {ends_.size()}, {ends}});
}

bool is_kept_name(std::string_view tensor) { return tensor == cells_name || tensor == ends_name; }

std::vector<std::string> kept_lines(const std::string& file, const Safetensors& content) {
  const TensorIn* const cells = content.find(cells_name);
  const TensorIn* const ends = content.find(ends_name);
  if (cells == nullptr && ends == nullptr) return {};
  std::vector<std::string> lines;
  std::uint64_t begin = 0;
  bool whole = cells != nullptr && ends != nullptr && cells->dtype == RML_U8 && ends->dtype == RML_I64;
  for (std::size_t at = 0; whole && at + 8 <= ends->data.size(); at += 8) {
    std::uint64_t end = 0;
    std::memcpy(&end, ends->data.data() + at, sizeof end);
    whole = end >= begin && end <= cells->data.size();
    if (whole) lines.emplace_back(cells->data.substr(begin, end - begin));
    begin = end;
  }
  if (!whole || lines.empty() || begin != cells->data.size()) throw Failure(file + ": damaged: '" + ends_name + "'");
  return lines;
}

}  // namespace rml::rt
