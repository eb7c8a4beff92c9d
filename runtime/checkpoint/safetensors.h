// The safetensors format: named tensors in one file, as Python's safetensors and NumPy users have it.
//
//   8 bytes: length of the header | JSON header, padded with blanks | elements, little-endian
//
// The header maps every name to {"dtype", "shape", "data_offsets"} and "__metadata__" to strings.
// Writing orders tensors by size of element, so that all are aligned. Reading trusts nothing: every
// length and offset is checked against the file before it is used.
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
  std::vector<std::string_view> pieces;  // the elements, in order
};
std::uint64_t bytes_of(const TensorOut& tensor);  // as its type says

// Everything before the elements; puts `tensors` in the order in which they must follow.
std::string safetensors_head(std::vector<TensorOut>& tensors, const Metadata& metadata);

inline constexpr std::uint8_t foreign_dtype = 255;  // one that the language does not have

struct TensorIn {
  std::string name;
  std::uint8_t dtype = foreign_dtype;
  std::string dtype_text;  // as in the file: "F32"
  std::vector<std::uint64_t> shape;
  std::string_view data;
};

struct Safetensors {
  Metadata metadata;
  std::vector<TensorIn> tensors;
  const TensorIn* find(const std::string& name) const;
};

// `bytes` must outlive the result. Throws Failure; `file` names it there.
Safetensors read_safetensors(const std::string& file, std::string_view bytes);

// "f32[3,4]" for people.
std::string tensor_type_text(std::uint8_t dtype, const std::uint64_t* dims, std::size_t rank);
std::string tensor_type_text(const TensorIn& tensor);

}  // namespace rml::rt
