// Fuzzes the .npy and .npz readers: any bytes must give rows or a Failure.
//
// The same bytes are read as an array for ports of several types and shapes, as an archive, and
// as gzip. The number of rows is limited, because a header may promise any number of rows without
// elements.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rml::rt;
  static constexpr std::uint64_t dims[] = {2, 3};
  static constexpr rml_port ports[] = {{"x", "base", RML_F32, 1, 0, 0, nullptr, 1},
                                       {"m", "base", RML_F64, 1, 0, 2, dims, 6},
                                       {"b", "base", RML_BOOL, 1, 0, 0, nullptr, 1}};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto exhaust = [](RowSource& source) {
    for (int rows = 0; rows < 1000 && source.read(); ++rows) source.fraction();
  };
  Row row(ports, 3);
  for (std::uint32_t port = 0; port < 3; ++port) {
    for (const auto coding : {ByteSource::Coding::plain, ByteSource::Coding::gzip}) {
      try {
        exhaust(*read_npy(ByteSource::memory("fuzz.npy", bytes, coding), row, port));
      } catch (const Failure&) {
      }
    }
  }
  try {
    exhaust(*read_npz(ByteSource::memory("fuzz.npz", bytes), row, {0, 1, 2}));
  } catch (const Failure&) {
  }
  try {
    exhaust(*read_npz(ByteSource::memory("fuzz.npz", bytes), row, {0}));
  } catch (const Failure&) {
  }
  return 0;
}
