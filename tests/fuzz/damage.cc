// Changes of bytes keep no structure; changes of texts exchange numbers, names, lines and
// separators.
#include "fuzz/damage.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace rml::fuzz {

namespace {

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k, value >>= 8) to += static_cast<char>(value & 0xff);
}

// Finds a run of characters of a kind, at or after a random position. Returns npos if there is
// none.
template <class Kind>
std::size_t find_run(const std::string& text, Random& random, const Kind& kind, std::size_t& length) {
  std::size_t at = below(random, text.size());
  while (at < text.size() && !kind(text[at])) ++at;
  if (at >= text.size()) return std::string::npos;
  while (at > 0 && kind(text[at - 1])) --at;
  length = 0;
  while (at + length < text.size() && kind(text[at + length])) ++length;
  return at;
}

bool of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+'; }
bool of_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void change_number(std::string& text, Random& random) {
  static const std::string numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "255",
                                        "256",
                                        "65536",
                                        "2147483648",
                                        "4294967295",
                                        "4294967296",
                                        "4611686018427387904",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "1e308",
                                        "1e400",
                                        "-1e400",
                                        "1e-400",
                                        "nan",
                                        "inf",
                                        "-inf",
                                        "-0",
                                        "0x10",
                                        "1e",
                                        "-",
                                        ".",
                                        "1.",
                                        ".5",
                                        "",
                                        "true",
                                        std::string(2000, '9'),
                                        "0." + std::string(400, '0') + "1"};
  std::size_t length = 0;
  const std::size_t at = find_run(text, random, of_number, length);
  if (at != std::string::npos) text.replace(at, length, numbers[below(random, std::size(numbers))]);
}

void change_name(std::string& text, Random& random) {
  std::size_t length = 0, other_length = 0;
  const std::size_t other = find_run(text, random, of_name, other_length);
  if (other == std::string::npos) return;
  static const std::string names[] = {"", "true", "false", "null", "_", "nan", "x", "\x1b[31m", "\xe2\x80\xae", "\xff"};
  const std::string name = below(random, 2) == 0   ? text.substr(other, other_length)
                           : below(random, 8) == 0 ? std::string(100'000, 'n')
                                                   : names[below(random, std::size(names))];
  const std::size_t at = find_run(text, random, of_name, length);
  if (at != std::string::npos) text.replace(at, length, name);
}

void change_line(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size());
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
  const std::string line = text.substr(begin, end + 1 - begin);
  if (below(random, 2) == 0)
    text.erase(begin, line.size());
  else
    text.insert(begin, line);
}

void change_separator(std::string& text, Random& random) {
  static constexpr std::string_view separators(",;:\"'[]{}()\n\r\t \\|/.-_#\0\xff", 24);
  static constexpr std::string_view marks[] = {"\xef\xbb\xbf", "\xff\xfe", "\r\n",    "\"\"",
                                               "[]",           "{}",       "\\u0000", "\\ud800"};
  std::size_t length = 0;
  const std::size_t at = find_run(text, random, [](char c) { return separators.find(c) != separators.npos; }, length);
  if (at == std::string::npos) return;
  const std::size_t place = at + below(random, length);
  switch (below(random, 4)) {
    case 0:
      text[place] = separators[below(random, separators.size())];
      break;
    case 1:
      text.insert(place, marks[below(random, std::size(marks))]);
      break;
    case 2:
      text.erase(place, 1);
      break;
    default:
      // Deep nesting is rare, because it takes long under sanitizers.
      text.insert(place, std::string(below(random, 16) == 0 ? 100'000 : 40, text[place]));
  }
}

void change_byte(std::string& bytes, const std::string& other, Random& random) {
  static constexpr unsigned char telling[] = {0, 1, 2, 7, 8, 16, 127, 128, 254, 255};
  const std::size_t at = below(random, bytes.size()), length = 1 + below(random, 16);
  switch (below(random, 8)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(random, 8));
      break;
    case 1:
      bytes[at] = static_cast<char>(telling[below(random, std::size(telling))]);
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(below(random, bytes.size()), bytes.substr(at, length));
      break;
    case 4:
      bytes.replace(at, length, other.substr(below(random, other.size()), length));
      break;
    case 5:
      if (below(random, 4) == 0) bytes.resize(at);
      break;
    case 6: {
      const auto number = static_cast<std::uint64_t>(telling_number(static_cast<std::int64_t>(bytes.size()), random));
      const std::size_t size = std::min<std::size_t>(std::size_t{1} << below(random, 4), bytes.size() - at);
      std::memcpy(bytes.data() + at, &number, size);
      break;
    }
    default:
      bytes.insert(at, std::string(below(random, 16) == 0 ? 300'000 : length, bytes[at]));
  }
}

}  // namespace

std::int64_t telling_number(std::int64_t number, Random& random) {
  const auto drawn = static_cast<std::int64_t>(random());
  const auto moved = [&](std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(by));
  };
  switch (below(random, 8)) {
    case 0:
      return moved(1);
    case 1:
      return moved(-1);
    case 2:
      return static_cast<std::int64_t>(below(random, 5)) - 1;
    case 3:
      return static_cast<std::int64_t>(std::uint64_t{1} << below(random, 64));
    case 4:
      return static_cast<std::int64_t>((std::uint64_t{1} << below(random, 64)) - 1);
    case 5:
      return moved(static_cast<std::int64_t>(below(random, 64)) - 32);
    case 6:
      return INT64_MAX - static_cast<std::int64_t>(below(random, 16));
    default:
      return drawn;
  }
}

void damage_bytes(std::string& bytes, const std::string& other, Random& random) {
  for (std::uint64_t n = 1 + below(random, 4); n > 0 && !bytes.empty() && !other.empty(); --n)
    change_byte(bytes, other, random);
}

void damage_text(std::string& text, Random& random) {
  for (std::uint64_t n = 1 + below(random, 4); n > 0 && !text.empty(); --n) {
    switch (below(random, 6)) {
      case 0:
      case 1:
        change_number(text, random);
        break;
      case 2:
        change_name(text, random);
        break;
      case 3:
        change_line(text, random);
        break;
      case 4:
        change_separator(text, random);
        break;
      default: {
        const std::string same = text;
        change_byte(text, same, random);
      }
    }
  }
}

namespace {

// `form` has the meaning of zlib's windowBits.
std::string deflated(const std::string& bytes, int form) {
  constexpr int level = 1;
  z_stream z{};
  if (deflateInit2(&z, level, Z_DEFLATED, form, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string packed(deflateBound(&z, bytes.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  if (result != Z_STREAM_END) throw std::runtime_error("not compressed");
  return packed;
}

}  // namespace

std::string gzip(const std::string& bytes) { return deflated(bytes, 15 + 16); }

std::string zip(const std::vector<Member>& members) {
  std::string archive, directory;
  for (const Member& m : members) {
    std::string common;  // the fields that both headers share
    const std::string data = m.deflated ? deflated(m.content, -15) : m.content;
    put(common, 20, 2), put(common, 0, 2), put(common, m.deflated ? 8 : 0, 2), put(common, 0, 4);
    put(common, crc32_z(0, reinterpret_cast<const Bytef*>(m.content.data()), m.content.size()), 4);
    put(common, data.size(), 4), put(common, m.content.size(), 4);
    put(common, m.name.size(), 2), put(common, 0, 2);
    put(directory, 0x02014b50, 4), put(directory, 20, 2);
    directory += common;
    put(directory, 0, 10), put(directory, archive.size(), 4);
    directory += m.name;
    put(archive, 0x04034b50, 4);
    archive += common + m.name + data;
  }
  const std::size_t begin = archive.size();
  archive += directory;
  put(archive, 0x06054b50, 4), put(archive, 0, 4), put(archive, members.size(), 2), put(archive, members.size(), 2);
  put(archive, directory.size(), 4), put(archive, begin, 4), put(archive, 0, 2);
  return archive;
}

}  // namespace rml::fuzz
