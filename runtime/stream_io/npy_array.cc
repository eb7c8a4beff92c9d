// Elements are converted one by one through the widest type of their kind, unless they have the
// layout of the dtype.
#include "runtime/stream_io/npy_array.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/kernels/half_float.h"

namespace rml::rt {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in memory");

constexpr std::string_view magic("\x93NUMPY", 6);
// Real headers have less than 1 KiB; only structured types, which are refused, need more.
constexpr std::size_t longest_header = std::size_t{1} << 16;

// Parses exactly the form {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false;
    bool order = false;
    bool shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        if (peek() == '[') throw Failure(file_ + ": an array of records; one array per input is needed");
        header.descr = string();
      } else if (key == "fortran_order" && !order) {
        order = true;
        header.fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        header.shape = tuple();
      } else {
        damaged("unexpected key '" + key + "'");
      }
      if (!accept(',') && peek() != '}') damaged("expected ',' or '}'");
    }
    if (!descr || !order || !shape) damaged("a key is missing");
    return header;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const { throw Failure(file_ + ": damaged .npy header: " + what); }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged(std::string("expected '") + c + "'");
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') damaged("expected a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) damaged("a string is not closed");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    damaged("expected True or False");
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    expect('(');
    while (!accept(')')) {
      peek();
      std::uint64_t value = 0;
      const char* const begin = text_.data() + at_;
      const auto [stop, code] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (code != std::errc()) damaged("expected a size");
      at_ += static_cast<std::size_t>(stop - begin);
      accept('L');  // the suffix of long integers in Python 2 is allowed
      values.push_back(value);
      if (!accept(',') && peek() != ')') damaged("expected ',' or ')'");
    }
    return values;
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

// "<U5" and "|S5" are texts of five characters or bytes.
bool read_descr_of_texts(NpyHeader& header) {
  const std::string& descr = header.descr;
  constexpr std::uint64_t longest = std::uint64_t{1} << 24;
  std::uint64_t length = 0;
  if (descr.size() < 3 || !std::strchr("<>|=", descr[0]) || !std::strchr("US", descr[1])) return false;
  const auto [stop, code] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), length);
  if (code != std::errc() || stop != descr.data() + descr.size() || length > longest) return false;
  header.kind = descr[1];
  header.bytes = header.kind == 'U' ? 4 * length : length;
  header.big_endian = descr[0] == '>';
  return true;
}

void read_descr(const std::string& file, NpyHeader& header) {
  const std::string& descr = header.descr;
  const std::string known = "bool, (u)int8 to (u)int64, float16, float32 or float64";
  if (descr.find('O') != descr.npos) {
    throw Failure(file + ": an array of Python objects ('" + descr + "'), which is never read; store " + known);
  }
  const auto unsupported = [&] {
    return Failure(file + ": element type '" + descr + "' is not supported; use " + known);
  };
  if (descr.size() != 3 || !std::strchr("<>|=", descr[0]) || !std::strchr("biuf", descr[1])) throw unsupported();
  header.kind = descr[1];
  header.bytes = static_cast<std::uint64_t>(descr[2] - '0');
  header.big_endian = descr[0] == '>';
  const std::string_view sizes = header.kind == 'b' ? "1" : header.kind == 'f' ? "248" : "1248";
  if (sizes.find(descr[2]) == sizes.npos) throw unsupported();
}

int mantissa_bits(std::uint8_t dtype) {
  switch (dtype) {
    case RML_BF16:
      return 8;
    case RML_F16:
      return 11;
    case RML_F32:
      return 24;
    default:
      return 53;
  }
}

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::int64_t load_integer(const NpyHeader& header, const char* from) {
  const bool is_signed = header.kind == 'i';
  switch (header.bytes) {
    case 1:
      return is_signed ? load<std::int8_t>(from) : load<std::uint8_t>(from);
    case 2:
      return is_signed ? load<std::int16_t>(from) : load<std::uint16_t>(from);
    case 4:
      return is_signed ? std::int64_t{load<std::int32_t>(from)} : std::int64_t{load<std::uint32_t>(from)};
    default:
      return load<std::int64_t>(from);
  }
}

double load_float(const NpyHeader& header, const char* from) {
  if (header.bytes == 2) return float_from_f16(load<std::uint16_t>(from));
  if (header.bytes == 4) return load<float>(from);
  return load<double>(from);
}

template <class T, class From>
void store(From value, char* to) {
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof converted);
}

template <class From>
void store_as(std::uint8_t dtype, From value, char* to) {
  switch (dtype) {
    case RML_BOOL:
      return store<std::uint8_t>(value != 0 ? 1 : 0, to);
    case RML_I8:
      return store<std::int8_t>(value, to);
    case RML_U8:
      return store<std::uint8_t>(value, to);
    case RML_I16:
      return store<std::int16_t>(value, to);
    case RML_I32:
      return store<std::int32_t>(value, to);
    case RML_I64:
      return store<std::int64_t>(value, to);
    case RML_U16:
      return store<std::uint16_t>(value, to);
    case RML_U32:
      return store<std::uint32_t>(value, to);
    case RML_U64:
      return store<std::uint64_t>(value, to);
    case RML_F16:
      return store<std::uint16_t>(f16_from_float(static_cast<float>(value)), to);
    case RML_BF16:
      return store<std::uint16_t>(bf16_from_float(static_cast<float>(value)), to);
    case RML_F32:
      return store<float>(value, to);
    default:
      return store<double>(value, to);
  }
}

}  // namespace

NpyHeader read_npy_header(ByteSource& bytes, NpyTypes types) {
  const std::string& file = bytes.name();
  constexpr std::size_t prefix = 8;
  if (!bytes.at_least(prefix) || std::string_view(bytes.begin(), magic.size()) != magic) {
    throw Failure(file + ": not a .npy array (it does not begin with \\x93NUMPY)");
  }
  const int version = static_cast<unsigned char>(bytes.begin()[6]);
  if (version < 1 || version > 3) {
    throw Failure(file + ": .npy version " + std::to_string(version) + " is not supported (1 to 3 are)");
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const auto truncated = [&] { return Failure(file + ": truncated inside the .npy header"); };
  if (!bytes.at_least(prefix + length_bytes)) throw truncated();
  std::size_t length = 0;
  for (std::size_t k = length_bytes; k-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes.begin()[prefix + k]);
  }
  if (length > longest_header)
    throw Failure(file + ": a .npy header of " + std::to_string(length) + " bytes is refused");
  if (!bytes.at_least(prefix + length_bytes + length)) throw truncated();
  const std::string text(bytes.begin() + prefix + length_bytes, length);
  bytes.consume(prefix + length_bytes + length);
  NpyHeader header = HeaderParser(file, text).parse();
  if (types == NpyTypes::numbers || !read_descr_of_texts(header)) read_descr(file, header);
  return header;
}

std::string npy_type_name(const NpyHeader& header) {
  if (header.kind == 'b') return "bool";
  const std::string bits = std::to_string(header.bytes * 8);
  return (header.kind == 'f' ? "float" : header.kind == 'i' ? "int" : "uint") + bits;
}

bool converts_safely(const NpyHeader& header, std::uint8_t dtype) {
  if (header.kind == 'b') return true;
  if (dtype == RML_BOOL) return false;
  if (header.kind == 'f') {
    const int bits = header.bytes == 2 ? 11 : header.bytes == 4 ? 24 : 53;
    // bf16 has the exponents of f32 but fewer digits than f16, so no other type converts to it.
    return is_float(dtype) && dtype != RML_BF16 && bits <= mantissa_bits(dtype);
  }
  const bool is_signed = header.kind == 'i';
  const int value_bits = static_cast<int>(header.bytes) * 8 - (is_signed ? 1 : 0);
  if (is_float(dtype)) return value_bits <= mantissa_bits(dtype);
  const bool to_signed = !is_unsigned(dtype);
  const int room = static_cast<int>(dtype_bytes(dtype)) * 8 - (to_signed ? 1 : 0);
  return value_bits <= room && (to_signed || !is_signed);
}

// Booleans are never copied as bytes, because a file may contain bytes other than 0 and 1.
bool lie_alike(const NpyHeader& header, std::uint8_t dtype) {
  return dtype != RML_BOOL && !header.big_endian &&
         npy_descr(dtype).substr(1) == std::string_view(header.descr).substr(1);
}

void convert_elements(const NpyHeader& header, const char* from, std::uint8_t dtype, void* to, std::uint64_t count) {
  char* out = static_cast<char*>(to);
  const std::uint64_t size = dtype_bytes(dtype);
  for (std::uint64_t k = 0; k < count; ++k, from += header.bytes, out += size) {
    char element[8];
    std::memcpy(element, from, header.bytes);
    if (header.big_endian) std::reverse(element, element + header.bytes);
    if (header.kind == 'f') {
      store_as(dtype, load_float(header, element), out);
    } else if (header.kind == 'b') {
      store_as(dtype, std::int64_t{load<std::uint8_t>(element) != 0}, out);
    } else {
      store_as(dtype, load_integer(header, element), out);
    }
  }
}

std::string_view npy_descr(std::uint8_t dtype) {
  switch (dtype) {
    case RML_BOOL:
      return "|b1";
    case RML_I8:
      return "|i1";
    case RML_U8:
      return "|u1";
    case RML_I16:
      return "<i2";
    case RML_I32:
      return "<i4";
    case RML_I64:
      return "<i8";
    case RML_U16:
      return "<u2";
    case RML_U32:
      return "<u4";
    case RML_U64:
      return "<u8";
    case RML_F16:
      return "<f2";
    case RML_F32:
      return "<f4";
    case RML_F64:
      return "<f8";
    default:
      return "";
  }
}

std::string npy_header_text(std::string_view descr, std::uint64_t rows, const std::uint64_t* dims, std::uint32_t rank) {
  std::string before = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  std::string after = ",";
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    after += (axis > 0 ? ", " : " ") + std::to_string(dims[axis]);
  }
  after += "), }";
  constexpr std::size_t longest_count = 20;
  const std::size_t fixed = magic.size() + 4 + before.size() + longest_count + after.size() + 1;
  const std::size_t total = (fixed + 63) / 64 * 64;
  std::string text(magic);
  const std::size_t length = total - magic.size() - 4;
  text += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8 & 0xff)};
  text += before + std::to_string(rows) + after;
  text.resize(total - 1, ' ');
  return text + "\n";
}

}  // namespace rml::rt
