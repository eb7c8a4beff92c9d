// Fuzzes the CSV reader: any bytes must give rows or a Failure.
//
// The row contains everything that the reader distinguishes: scalars and tensors, every kind of
// number, and a stream that may be absent. The place is requested after every row, as a fault
// would do.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rml::rt;
  static constexpr std::uint64_t dims[] = {2, 2};
  static constexpr rml_port ports[] = {{"x", "base", RML_F32, 1, 0, 0, nullptr, 1},
                                       {"b", "base", RML_BOOL, 1, 0, 0, nullptr, 1},
                                       {"m", "base on b", RML_I16, 0, 0, 2, dims, 4}};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // With the header added, all of the input is rows; otherwise it contains a header as well.
  static constexpr std::string_view header = "x,b,m[0,0],m[0,1],m[1,0],m[1,1]\n";
  for (const bool with_header : {true, false}) {
    try {
      Row row(ports, 3);
      const std::string text = with_header ? std::string(header) + std::string(bytes) : std::string(bytes);
      const auto source = read_csv(ByteSource::memory("fuzz.csv", text), row, {0, 1, 2});
      while (source->read()) source->place(2);
    } catch (const Failure&) {
    }
  }
  try {
    Row row(ports + 2, 1);
    const auto source = read_csv(ByteSource::memory("fuzz.csv", bytes), row, {0});
    while (source->read()) source->place(0);
  } catch (const Failure&) {
  }
  return 0;
}
