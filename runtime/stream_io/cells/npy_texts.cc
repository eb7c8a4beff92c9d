// NumPy stores a text as code points of four bytes (U) or as bytes (S), filled up with zeros.
#include "runtime/stream_io/cells/npy_texts.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/readable.h"
#include "runtime/base/rmlrt.h"
#include "runtime/stream_io/scalar_text.h"

namespace rml::rt {
namespace {

// The code points of a text in UTF-8.
std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (!is_utf8(text.substr(i, length))) {
      points += U'\ufffd';
      ++i;
      continue;
    }
    char32_t point = length == 1 ? first : first & (0xffu >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
    points += point;
    i += length;
  }
  return points;
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) point = 0xfffd;
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else {
    put(point < 0x10000 ? 0xe0 | point >> 12 : 0xf0 | point >> 18);
    if (point >= 0x10000) put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

std::string without_zeros(std::string_view text) {
  return std::string(text.substr(0, text.find_last_not_of('\0') + 1));
}

std::string text_of_points(const NpyHeader& header, const char* from) {
  std::string text;
  for (std::uint64_t at = 0; at < header.bytes; at += 4) {
    unsigned char bytes[4];
    std::memcpy(bytes, from + at, sizeof bytes);
    if (header.big_endian) std::reverse(std::begin(bytes), std::end(bytes));
    const std::uint32_t point = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | std::uint32_t{bytes[3]} << 24;
    append_utf8(text, point);
  }
  return without_zeros(text);
}

std::string text_of_number(const NpyHeader& header, const char* from) {
  std::uint8_t dtype = RML_BOOL;
  for (const std::uint8_t other :
       {RML_I8, RML_U8, RML_I16, RML_I32, RML_I64, RML_U16, RML_U32, RML_U64, RML_F16, RML_F32, RML_F64})
    if (npy_descr(other).substr(1) == std::string_view(header.descr).substr(1)) dtype = other;
  alignas(8) char value[8];
  convert_elements(header, from, dtype, value, 1);
  char text[longest_scalar];
  return {text, format_scalar(dtype, value, text, BoolText::word)};
}

}  // namespace

std::string npy_of_texts(const std::vector<std::string_view>& texts) {
  std::size_t width = 1;
  for (const std::string_view text : texts) width = std::max(width, code_points(text).size());
  std::string all = npy_header_text("<U" + std::to_string(width), texts.size(), nullptr, 0);
  for (const std::string_view text : texts) {
    std::u32string points = code_points(text);
    points.resize(width);
    all.append(reinterpret_cast<const char*>(points.data()), width * sizeof(char32_t));
  }
  return all;
}

NpyTexts::NpyTexts(ByteSource bytes) : bytes_(std::move(bytes)), header_(read_npy_header(bytes_, NpyTypes::texts_too)) {
  if (header_.shape.size() != 1)
    throw Failure(bytes_.name() + ": an array with " + std::to_string(header_.shape.size()) +
                  " axes; a column that is kept has one value for each row");
}

std::string NpyTexts::next() {
  if (!bytes_.at_least(header_.bytes)) throw Failure(bytes_.name() + ": truncated");
  std::string text;
  if (header_.kind == 'U')
    text = text_of_points(header_, bytes_.begin());
  else if (header_.kind == 'S')
    text = without_zeros({bytes_.begin(), header_.bytes});
  else
    text = text_of_number(header_, bytes_.begin());
  bytes_.consume(header_.bytes);
  return text;
}

}  // namespace rml::rt
