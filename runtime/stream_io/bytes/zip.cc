// Layout (APPNOTE 6.3): entries, each with a local header and data; the central directory, which
// lists them; the end record, which may be followed by a comment of up to 65535 bytes.
#include "runtime/stream_io/bytes/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "runtime/base/failure.h"

namespace rml::rt {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t directory_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::size_t local_bytes = 30;
constexpr std::size_t directory_bytes = 46;
constexpr std::size_t end_bytes = 22;
constexpr std::uint16_t stored = 0;
constexpr std::uint16_t deflated = 8;
constexpr std::uint64_t deflate_ratio = 1032;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t k = count; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + k]);
  return value;
}

void put(std::string& to, std::uint64_t value, int count) {
  for (int k = 0; k < count; ++k) to += static_cast<char>(value >> (8 * k) & 0xff);
}

Failure damaged(const std::string& archive, const std::string& what) {
  return Failure(archive + ": damaged zip archive: " + what);
}

std::size_t find_end_record(const std::string& archive, std::string_view bytes) {
  if (bytes.size() >= end_bytes) {
    const std::size_t lowest = bytes.size() - end_bytes - std::min<std::size_t>(bytes.size() - end_bytes, 0xffff);
    for (std::size_t at = bytes.size() - end_bytes + 1; at-- > lowest;) {
      if (number(bytes, at, 4) == end_signature) return at;
    }
  }
  throw Failure(archive + ": not a zip archive, or truncated (no directory at its end)");
}

// Requires that `at` is the offset of a directory record inside the archive.
ZipEntry read_entry(const std::string& archive, std::string_view bytes, std::size_t at, std::size_t name_bytes) {
  ZipEntry entry;
  entry.name = std::string(bytes.substr(at + directory_bytes, name_bytes));
  const std::uint64_t flags = number(bytes, at + 8, 2);
  const std::uint64_t method = number(bytes, at + 10, 2);
  entry.crc = static_cast<std::uint32_t>(number(bytes, at + 16, 4));
  const std::uint64_t packed = number(bytes, at + 20, 4);
  entry.size = number(bytes, at + 24, 4);
  const std::uint64_t local = number(bytes, at + 42, 4);
  const std::string what = "'" + entry.name + "' ";
  if (flags & 1u) throw Failure(archive + ": " + what + "is encrypted");
  if (method != stored && method != deflated) {
    throw Failure(archive + ": " + what + "is compressed by a method other than deflate");
  }
  const std::uint64_t zip64 = std::numeric_limits<std::uint32_t>::max();
  if (packed == zip64 || entry.size == zip64 || local == zip64) {
    throw Failure(archive + ": " + what + "has 4 GiB or more, which is not supported; use .npy files");
  }
  if (local > bytes.size() || bytes.size() - local < local_bytes || number(bytes, local, 4) != local_signature) {
    throw damaged(archive, what + "is not where the directory says");
  }
  const std::uint64_t data = local + local_bytes + number(bytes, local + 26, 2) + number(bytes, local + 28, 2);
  if (data > bytes.size() || bytes.size() - data < packed) {
    throw damaged(archive, what + "is truncated: " + std::to_string(packed) + " bytes promised, " +
                               std::to_string(data > bytes.size() ? 0 : bytes.size() - data) + " there");
  }
  entry.data = bytes.substr(data, packed);
  entry.deflated = method == deflated;
  if (!entry.deflated && entry.size != packed) throw damaged(archive, what + "has two sizes");
  if (entry.size > (packed + 1) * deflate_ratio) {
    throw damaged(archive, what + "claims " + std::to_string(entry.size) + " bytes in " + std::to_string(packed) +
                               ", more than deflate can hold");
  }
  return entry;
}

}  // namespace

std::vector<ZipEntry> list_zip(const std::string& archive, std::string_view bytes) {
  const std::size_t end = find_end_record(archive, bytes);
  const std::uint64_t count = number(bytes, end + 10, 2);
  const std::uint64_t directory = number(bytes, end + 16, 4);
  if (directory == std::numeric_limits<std::uint32_t>::max()) {
    throw Failure(archive + ": an archive of 4 GiB or more is not supported; use .npy files");
  }
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  std::uint64_t at = directory;
  for (std::uint64_t k = 0; k < count; ++k) {
    if (at > end || end - at < directory_bytes || number(bytes, at, 4) != directory_signature) {
      throw damaged(archive,
                    "directory record " + std::to_string(k + 1) + " of " + std::to_string(count) + " is not there");
    }
    const std::size_t name_bytes = number(bytes, at + 28, 2);
    const std::uint64_t length = directory_bytes + name_bytes + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    if (end - at < length) throw damaged(archive, "the directory is truncated");
    entries.push_back(read_entry(archive, bytes, at, name_bytes));
    if (!names.insert(entries.back().name).second)
      throw Failure(archive + ": holds '" + entries.back().name + "' twice; keep only one of them");
    at += length;
  }
  return entries;
}

ByteSource open_zip_entry(const std::string& archive, const ZipEntry& entry) {
  const auto coding = entry.deflated ? ByteSource::Coding::deflate : ByteSource::Coding::plain;
  const std::string name = archive + "(" + entry.name + ")";
  ByteSource check = ByteSource::memory(name, entry.data, coding);
  uLong crc = crc32(0, nullptr, 0);
  std::uint64_t size = 0;
  do {
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(check.begin()), check.size());
    size += check.size();
    check.consume(check.size());
  } while (size <= entry.size && check.more());
  if (size != entry.size || crc != entry.crc) {
    throw damaged(archive, "the content of '" + entry.name + "' does not have the size and checksum recorded for it");
  }
  return ByteSource::memory(name, entry.data, coding);
}

void ZipWriter::append(std::string_view bytes) {
  bytes_.append(bytes);
  offset_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view content) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - (std::uint64_t{1} << 20);
  if (content.size() >= most || offset_ + content.size() >= most) {
    throw Failure("cannot write " + bytes_.name() + ": an .npz of 4 GiB or more; write one .npy per output");
  }
  constexpr std::uint64_t first_of_january_1980 = 0x00210000;
  std::string common;  // the fields that both headers share
  put(common, 20, 2);
  put(common, 0, 2);
  put(common, stored, 2);
  put(common, first_of_january_1980, 4);
  put(common, crc32_z(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(content.data()), content.size()), 4);
  put(common, content.size(), 4);
  put(common, content.size(), 4);
  put(common, name.size(), 2);
  put(common, 0, 2);
  put(directory_, directory_signature, 4);
  put(directory_, 20, 2);
  directory_ += common;
  put(directory_, 0, 8);  // three fields of zeros: no comment, disk 0, no attributes
  put(directory_, 0, 2);
  put(directory_, offset_, 4);
  directory_ += name;
  std::string local;
  put(local, local_signature, 4);
  append(local + common + name);
  append(content);
  ++entries_;
}

void ZipWriter::finish() {
  const std::uint64_t begin = offset_;
  const std::uint64_t size = directory_.size();
  std::string end;
  put(end, end_signature, 4);
  put(end, 0, 4);
  put(end, entries_, 2);
  put(end, entries_, 2);
  put(end, size, 4);
  put(end, begin, 4);
  put(end, 0, 2);
  append(directory_ + end);
}

}  // namespace rml::rt
