// Reads and writes the safetensors format: named tensors in one file, as used by Python's
// safetensors.
//
//   8 bytes: length of the header | JSON header, padded with blanks | elements, little-endian
//
// The header maps every name to {"dtype", "shape", "data_offsets"}, and "__metadata__" to
// strings. Writing sorts tensors by the size of an element, so that all are aligned. Reading
// checks every length and offset against the size of the file before use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

using Metadata = std::map<std::string, std::string>;

struct TensorOut {
  std::string name;
  std::uint8_t dtype = 0;
  std::vector<std::uint64_t> shape;
  std::vector<std::string_view> pieces;  // the elements, in consecutive pieces
};
std::uint64_t bytes_of(const TensorOut& tensor);  // number of bytes, according to type and shape

// All bytes before the elements. Sorts `tensors` into the order in which their elements must
// follow.
std::string safetensors_head(std::vector<TensorOut>& tensors, const Metadata& metadata);

inline constexpr std::uint8_t foreign_dtype = 255;  // marks a type that the language does not have

struct TensorIn {
  std::string name;
  std::uint8_t dtype = foreign_dtype;
  std::string dtype_text;  // as in the file, such as "F32"
  std::vector<std::uint64_t> shape;
  std::string_view data;
};

struct Safetensors {
  Metadata metadata;
  std::vector<TensorIn> tensors;
  const TensorIn* find(const std::string& name) const;
};

// `bytes` must outlive the result. Throws Failure, which names `file`.
Safetensors read_safetensors(const std::string& file, std::string_view bytes);

// The type as text for messages, such as "f32[3,4]".
std::string tensor_type_text(std::uint8_t dtype, const std::uint64_t* dims, std::size_t rank);
std::string tensor_type_text(const TensorIn& tensor);

}  // namespace rml::rt
