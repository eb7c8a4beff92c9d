// Fuzzes the readers of chronograms and of JSON lines: any bytes must give rows or a Failure.
//
// Both readers expect the same row: a Boolean, a stream that may be absent, and a tensor of rank
// 3, whose brackets are the most intricate part of both grammars.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rml::rt;
  static constexpr std::uint64_t dims[] = {2, 1, 2};
  static constexpr rml_port ports[] = {{"c", "base", RML_BOOL, 1, 0, 0, nullptr, 1},
                                       {"x", "base on c", RML_F64, 0, 0, 0, nullptr, 1},
                                       {"t", "base", RML_U8, 1, 0, 3, dims, 4}};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool is_chronogram : {true, false}) {
    try {
      Row row(ports, 3);
      ByteSource from = ByteSource::memory("fuzz", bytes);
      const auto source =
          is_chronogram ? read_chron(std::move(from), row, {0, 1, 2}) : read_jsonl(std::move(from), row, {0, 1, 2});
      while (source->read()) source->place(1);
    } catch (const Failure&) {
    }
  }
  return 0;
}
