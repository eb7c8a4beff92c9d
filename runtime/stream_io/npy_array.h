// The .npy format (NumPy enhancement proposal 1, versions 1 to 3): header and element types.
//
// The header is a Python dictionary literal with three known keys, and the parser accepts nothing
// else. Sizes are multiplied with overflow checks before anything is allocated. An element type
// is accepted if it is that of the port, or converts to it without loss for every value: to a
// wider integer, or to a float with enough mantissa bits, but never f8 to f32.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/bytes/byte_source.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

struct NpyHeader {
  std::string descr;        // the dtype as in the file, such as "<f4"
  char kind = 0;            // b, i, u or f; of texts U or S
  std::uint64_t bytes = 0;  // bytes of an element
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Reads and consumes the header. Throws Failure if it is not an .npy file, damaged, or of an
// unsupported type.
enum class NpyTypes { numbers, texts_too };
NpyHeader read_npy_header(ByteSource& bytes, NpyTypes types = NpyTypes::numbers);

// NumPy's name of the element type, such as "float64".
std::string npy_type_name(const NpyHeader& header);
// True if every value of the array's type is a value of the dtype.
bool converts_safely(const NpyHeader& header, std::uint8_t dtype);
// True if elements have the same layout as the dtype, so that they can be copied as bytes.
bool lie_alike(const NpyHeader& header, std::uint8_t dtype);
// Converts count elements from the file's type to the dtype. Requires converts_safely.
void convert_elements(const NpyHeader& header, const char* from, std::uint8_t dtype, void* to, std::uint64_t count);

// NumPy's description of the dtype; empty for bf16.
std::string_view npy_descr(std::uint8_t dtype);
// A complete version 1 header with its magic bytes, for `rows` rows of the given dims. Its length
// does not depend on `rows`, so it can be rewritten when they are known.
std::string npy_header_text(std::string_view descr, std::uint64_t rows, const std::uint64_t* dims, std::uint32_t rank);

}  // namespace rml::rt
