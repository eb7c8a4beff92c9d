// The .npy format (NumPy enhancement proposal 1, versions 1 to 3): header and element types.
//
// The header is a Python dictionary literal of three known keys, read by a parser that knows
// nothing else. Sizes are multiplied with overflow checks before anything is allocated. An
// element type is taken if it is the port's or converts to it without loss for every value:
// a wider integer, a float with enough mantissa bits, never f8 to f32.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/stream_io/byte_source.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

struct NpyHeader {
  std::string descr;        // as in the file: "<f4"
  char kind = 0;            // b, i, u, f
  std::uint64_t bytes = 0;  // of one element
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Reads and consumes the header. Throws Failure: not an .npy, unsupported type, damaged.
NpyHeader read_npy_header(ByteSource& bytes);

// "float64", "uint16": NumPy's name for the element type.
std::string npy_type_name(const NpyHeader& header);
// Whether every value of the array's type is one of the dtype.
bool converts_safely(const NpyHeader& header, std::uint8_t dtype);
// Whether elements of the array lie as those of the dtype do, so that they are copied.
bool lie_alike(const NpyHeader& header, std::uint8_t dtype);
// count elements in the file's form to the dtype's; converts_safely holds.
void convert_elements(const NpyHeader& header, const char* from, std::uint8_t dtype, void* to, std::uint64_t count);

// The dtype as NumPy writes it; empty for bf16.
std::string_view npy_descr(std::uint8_t dtype);
// A complete version 1 header, magic included, for `rows` rows of the dims; its length does not
// depend on rows, so it can be written again when they are known.
std::string npy_header_text(std::string_view descr, std::uint64_t rows, const std::uint64_t* dims, std::uint32_t rank);

}  // namespace rml::rt
