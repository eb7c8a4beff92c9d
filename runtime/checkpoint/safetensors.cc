// Offsets of tensors must cover the bytes after the header without gaps or overlaps.
#include "runtime/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/base/failure.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

using Json = nlohmann::ordered_json;

constexpr const char* dtype_names[] = {"BOOL", "I8",  "U8",  "I16", "I32", "I64", "F16",
                                       "BF16", "F32", "F64", "U16", "U32", "U64"};
constexpr std::size_t prefix = 8;
// bytes, enough for some 100,000 tensors
constexpr std::uint64_t longest_header = std::uint64_t{16} << 20;

class Reader {
 public:
  Reader(const std::string& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  Safetensors read() {
    const nlohmann::json header = parse_header();
    Safetensors result;
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        result.metadata = metadata(entry);
      } else {
        result.tensors.push_back(tensor(name, entry));
      }
    }
    check_cover(result.tensors);
    return result;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const { throw Failure(file_ + ": damaged: " + what); }

  nlohmann::json parse_header() {
    if (bytes_.size() < prefix) throw Failure(file_ + ": not a safetensors file: too short for a header");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), prefix);
    if (length > longest_header && bytes_.size() > prefix && bytes_[prefix] == '{')
      throw Failure(file_ + ": its header has " + std::to_string(length) + " bytes; at most 16 MB are read");
    if (length > longest_header || length == 0 || (bytes_.size() > prefix && bytes_[prefix] != '{'))
      throw Failure(file_ + ": not a safetensors file: it does not begin with the length of a JSON header");
    if (bytes_.size() - prefix < length) {
      throw Failure(file_ + ": truncated: " + std::to_string(bytes_.size()) + " bytes, but its header alone has " +
                    std::to_string(length));
    }
    data_ = bytes_.substr(prefix + length);
    auto header = nlohmann::json::parse(bytes_.substr(prefix, length), nullptr, false);
    if (header.is_discarded() || !header.is_object()) damaged("the header is not a JSON object");
    return header;
  }

  Metadata metadata(const nlohmann::json& entry) const {
    Metadata result;
    if (!entry.is_object()) damaged("__metadata__ is not an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) damaged("the value of '" + key + "' in __metadata__ is not a string");
      result[key] = value.get<std::string>();
    }
    return result;
  }

  std::vector<std::uint64_t> sizes(const std::string& name, const nlohmann::json& entry, const char* key) const {
    if (!entry.contains(key) || !entry[key].is_array()) damaged("tensor '" + name + "' has no " + key);
    std::vector<std::uint64_t> result;
    for (const nlohmann::json& size : entry[key]) {
      if (!size.is_number_unsigned()) damaged(std::string(key) + " of tensor '" + name + "' are not sizes");
      result.push_back(size.get<std::uint64_t>());
    }
    return result;
  }

  TensorIn tensor(const std::string& name, const nlohmann::json& entry) const {
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string())
      damaged("tensor '" + name + "' has no dtype");
    TensorIn result;
    result.name = name;
    result.dtype_text = entry["dtype"].get<std::string>();
    for (std::size_t code = 0; code < std::size(dtype_names); ++code)
      if (result.dtype_text == dtype_names[code]) result.dtype = static_cast<std::uint8_t>(code);
    result.shape = sizes(name, entry, "shape");
    const std::vector<std::uint64_t> offsets = sizes(name, entry, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) damaged("data_offsets of tensor '" + name + "'");
    if (offsets[1] > data_.size()) {
      throw Failure(file_ + ": truncated: tensor '" + name + "' ends at byte " + std::to_string(offsets[1]) +
                    " of the elements, of which " + std::to_string(data_.size()) + " are there");
    }
    result.data = data_.substr(offsets[0], offsets[1] - offsets[0]);
    if (result.dtype != foreign_dtype && result.data.size() != wanted_bytes(result)) {
      damaged("tensor '" + name + "' (" + tensor_type_text(result) + ") has " + std::to_string(result.data.size()) +
              " bytes");
    }
    return result;
  }

  std::uint64_t wanted_bytes(const TensorIn& tensor) const {
    std::uint64_t bytes = dtype_bytes(tensor.dtype);
    for (const std::uint64_t extent : tensor.shape) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) damaged("tensor '" + tensor.name + "' is impossibly large");
    }
    return bytes;
  }

  // Checks that the tensors are adjacent and that nothing follows them.
  void check_cover(const std::vector<TensorIn>& tensors) const {
    std::vector<std::string_view> parts;
    for (const TensorIn& t : tensors) parts.push_back(t.data);
    std::sort(parts.begin(), parts.end(), [](std::string_view a, std::string_view b) {
      return a.data() != b.data() ? a.data() < b.data() : a.size() < b.size();
    });
    const char* at = data_.data();
    for (const std::string_view part : parts) {
      if (part.data() != at) damaged("its tensors overlap or leave a gap");
      at += part.size();
    }
    if (at != data_.data() + data_.size()) damaged("there are bytes after the last tensor");
  }

  const std::string& file_;
  std::string_view bytes_;
  std::string_view data_;
};

}  // namespace

std::uint64_t bytes_of(const TensorOut& tensor) {
  std::uint64_t bytes = dtype_bytes(tensor.dtype);
  for (const std::uint64_t extent : tensor.shape) bytes *= extent;
  return bytes;
}

std::string safetensors_head(std::vector<TensorOut>& tensors, const Metadata& metadata) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const TensorOut& a, const TensorOut& b) { return dtype_bytes(a.dtype) > dtype_bytes(b.dtype); });
  Json header;
  header["__metadata__"] = metadata;
  std::uint64_t end = 0;
  for (const TensorOut& tensor : tensors) {
    const std::uint64_t begin = end;
    end += bytes_of(tensor);
    Json& entry = header[tensor.name];
    entry["dtype"] = dtype_names[tensor.dtype];
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = {begin, end};
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string head(prefix, '\0');
  std::memcpy(head.data(), &length, prefix);
  return head + text;
}

const TensorIn* Safetensors::find(const std::string& name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const TensorIn& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

Safetensors read_safetensors(const std::string& file, std::string_view bytes) { return Reader(file, bytes).read(); }

std::string tensor_type_text(std::uint8_t dtype, const std::uint64_t* dims, std::size_t rank) {
  std::string text(dtype_name(dtype));
  for (std::size_t axis = 0; axis < rank; ++axis) text += (axis == 0 ? "[" : ",") + std::to_string(dims[axis]);
  return rank == 0 ? text : text + "]";
}

std::string tensor_type_text(const TensorIn& tensor) {
  std::string text = tensor_type_text(tensor.dtype, tensor.shape.data(), tensor.shape.size());
  if (tensor.dtype != foreign_dtype) return text;
  std::string name = tensor.dtype_text;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name + text.substr(1);  // replaces the "?" of a foreign type by its name
}

}  // namespace rml::rt
