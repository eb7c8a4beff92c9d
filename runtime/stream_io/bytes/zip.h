// The part of the zip format that .npz needs: stored entries, and deflated ones when reading; no
// encryption.
//
// Reading works on the whole archive in memory and trusts nothing in it. Every offset and size is
// checked against the archive. An entry must not claim more than deflate can hold (1032:1, to
// refuse zip bombs). Contents are checked against their CRC before use, in pieces.
//
// Entries are written stored, as np.savez does, because deflate would take ten times as long as
// the rows. Writing is reproducible: entries carry no time. Archives and entries of 4 GiB and
// more (zip64) are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/bytes/byte_sink.h"
#include "runtime/stream_io/bytes/byte_source.h"

namespace rml::rt {

struct ZipEntry {
  std::string name;
  std::string_view data;  // the data as stored in the archive, perhaps compressed
  bool deflated = false;
  std::uint64_t size = 0;  // size of the content in bytes
  std::uint32_t crc = 0;
};

// The entries of an archive, in directory order. Throws Failure, which names `archive`.
std::vector<ZipEntry> list_zip(const std::string& archive, std::string_view bytes);

// The content of an entry, after its size and CRC have been checked.
ByteSource open_zip_entry(const std::string& archive, const ZipEntry& entry);

class ZipWriter {
 public:
  explicit ZipWriter(ByteSink& bytes) : bytes_(bytes) {}
  void add(const std::string& name, std::string_view content);
  // Writes the directory; nothing may be added afterwards.
  void finish();

 private:
  void append(std::string_view bytes);

  ByteSink& bytes_;
  std::string directory_;
  std::uint64_t offset_ = 0;
  std::uint16_t entries_ = 0;
};

}  // namespace rml::rt
