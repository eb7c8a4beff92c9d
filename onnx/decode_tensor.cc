// Decodes tensors from raw bytes, typed fields, or a part of a file in the model's folder.
//
// Raw bytes are little-endian and dense, with one byte per Boolean. In a typed field, types
// shorter than 32 bits are stored as 32-bit integers, f16 and bf16 by their bits. The number of
// elements must be that of the shape. A file is opened only if its name has no folder, it is in
// the model's folder, and it is a regular file with a single link. Otherwise a foreign model
// could read files outside its folder.
#include "onnx/decode_tensor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "onnx/model.pb.h"

namespace rml::onnx {

namespace {

// By number in the format. A type without dtype does not exist in the language.
constexpr struct {
  std::string_view name, dtype;
} element_types[] = {
    {"UNDEFINED", ""},      {"FLOAT", "f32"},     {"UINT8", "u8"},      {"INT8", "i8"},         {"UINT16", "u16"},
    {"INT16", "i16"},       {"INT32", "i32"},     {"INT64", "i64"},     {"STRING", ""},         {"BOOL", "bool"},
    {"FLOAT16", "f16"},     {"DOUBLE", "f64"},    {"UINT32", "u32"},    {"UINT64", "u64"},      {"COMPLEX64", ""},
    {"COMPLEX128", ""},     {"BFLOAT16", "bf16"}, {"FLOAT8E4M3FN", ""}, {"FLOAT8E4M3FNUZ", ""}, {"FLOAT8E5M2", ""},
    {"FLOAT8E5M2FNUZ", ""}, {"UINT4", ""},        {"INT4", ""},         {"FLOAT4E2M1", ""},     {"FLOAT8E8M0", ""},
    {"UINT2", ""},          {"INT2", ""},
};
constexpr int text_type = 8;

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::int64_t number(const std::string& text, const std::string& place, const char* what) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw ModelError{place, std::string(what) + " of its file is " + in_quotes(text) + ", not a number of bytes"};
  return value;
}

struct ExternalData {
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = -1;  // bytes to read; -1: up to the end of the file
};

ExternalData external_place(const wire::Tensor& from, const std::string& place) {
  ExternalData to;
  for (const wire::Entry& entry : from.external_data()) {
    if (entry.key() == "location") to.location = entry.value();
    if (entry.key() == "offset") to.offset = number(entry.value(), place, "the offset");
    if (entry.key() == "length") to.length = number(entry.value(), place, "the length");
  }
  const std::string& name = to.location;
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\\') != std::string::npos || name.find('\0') != std::string::npos)
    throw ModelError{place, "its elements are in the file " + in_quotes(name) +
                                ": only files in the model's own folder are read, by their plain names"};
  return to;
}

// Normalises Booleans to 0 or 1; any other byte counts as true.
void make_bits(Tensor& t) {
  if (t.dtype() != DType::boolean) return;
  for (std::int64_t i = 0; i < t.elements(); ++i) t.as<std::uint8_t>()[i] = t.as<std::uint8_t>()[i] != 0;
}

template <class To, class Field>
void copy_field(const Field& field, const std::string& place, Tensor& to) {
  if (field.size() != to.elements())
    throw ModelError{place, "its shape " + to_string(to.shape()) + " needs " + std::to_string(to.elements()) +
                                " elements, but it has " + std::to_string(field.size())};
  for (int i = 0; i < field.size(); ++i) to.as<To>()[i] = static_cast<To>(field[i]);
}

void copy_typed(const wire::Tensor& from, const std::string& place, Tensor& to) {
  const std::string_view dtype = name(to.dtype());
  if (dtype == "f32") return copy_field<float>(from.float_data(), place, to);
  if (dtype == "f64") return copy_field<double>(from.double_data(), place, to);
  if (dtype == "i64") return copy_field<std::int64_t>(from.int64_data(), place, to);
  if (dtype == "u64") return copy_field<std::uint64_t>(from.uint64_data(), place, to);
  if (dtype == "u32") return copy_field<std::uint32_t>(from.uint64_data(), place, to);
  if (dtype == "i32") return copy_field<std::int32_t>(from.int32_data(), place, to);
  byte_size(to.dtype()) == 1 ? copy_field<std::uint8_t>(from.int32_data(), place, to)
                             : copy_field<std::uint16_t>(from.int32_data(), place, to);
}

// True if any numeric typed field has elements.
bool has_typed(const wire::Tensor& t) {
  return t.float_data_size() + t.int32_data_size() + t.int64_data_size() + t.double_data_size() + t.uint64_data_size() >
         0;
}

Shape shape_of(const wire::Tensor& from, const std::string& place) {
  Shape shape(from.dims().begin(), from.dims().end());
  for (const std::int64_t extent : shape)
    if (extent < 0) throw ModelError{place, "it has the extent " + std::to_string(extent)};
  if (shape.size() > max_rank)
    throw ModelError{place, "it has " + std::to_string(shape.size()) + " axes; 8 are supported"};
  if (!element_count(shape)) throw ModelError{place, "its shape " + to_string(shape) + " has too many elements"};
  return shape;
}

// Checks before allocation that the model contains as many elements as the shape demands.
void check_size(const wire::Tensor& from, std::int64_t bytes, std::int64_t elements, const std::string& place) {
  if (from.has_raw_data()) {
    if (static_cast<std::int64_t>(from.raw_data().size()) != bytes)
      throw ModelError{place, "its shape needs " + std::to_string(bytes) + " bytes, but it has " +
                                  std::to_string(from.raw_data().size())};
    if (has_typed(from)) throw ModelError{place, "its elements are stored twice, as raw bytes and in a typed field"};
    return;
  }
  const std::int64_t there = std::int64_t{from.float_data_size()} + from.int32_data_size() + from.int64_data_size() +
                             from.double_data_size() + from.uint64_data_size() + from.string_data_size();
  if (there != elements)
    throw ModelError{place,
                     "its shape needs " + std::to_string(elements) + " elements, but it has " + std::to_string(there)};
}

}  // namespace

Tensor ExternalTensors::read(const wire::Tensor& from, const std::string& place, DType dtype, const Shape& shape) {
  constexpr std::int64_t most_times = 4;  // limit on the bytes held of a file, as a multiple of its size
  const ExternalData at = external_place(from, place);
  const std::string what = "the file " + in_quotes(at.location) + " with its elements ";
  const FileDescriptor in_folder(::open(folder_.empty() ? "." : folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const FileDescriptor file(in_folder.get() < 0 ? -1
                                                : ::openat(in_folder.get(), at.location.c_str(),
                                                           O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.get() < 0)
    throw ModelError{
        place, what + (errno == ELOOP ? "is a symbolic link" : "cannot be read: " + std::string(std::strerror(errno)))};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    throw ModelError{place, what + "is not a regular file"};
  if (info.st_nlink > 1) throw ModelError{place, what + "has other names (hard links)"};
  const std::int64_t bytes = *element_count(shape) * static_cast<std::int64_t>(byte_size(dtype));
  const std::int64_t length = at.length >= 0 ? at.length : info.st_size - at.offset;
  if (at.offset > info.st_size || length > info.st_size - at.offset)
    throw ModelError{place, what + "ends before them: it has " + std::to_string(info.st_size) + " bytes"};
  if (length != bytes)
    throw ModelError{
        place, "its shape needs " + std::to_string(bytes) + " bytes, but its file gives " + std::to_string(length)};
  const auto [held, first] = read_.try_emplace({at.location, at.offset, length, dtype, shape});
  if (!first) return held->second;
  std::int64_t& taken = taken_[at.location];
  taken += bytes;
  if (taken > most_times * info.st_size)
    throw ModelError{place, what + "has " + std::to_string(info.st_size) + " bytes, tensors take " +
                                std::to_string(taken) + " of it: only some may overlap, if they are not the same"};
  Tensor to(dtype, shape);
  for (std::int64_t done = 0; done < bytes;) {
    const auto count = ::pread(file.get(), static_cast<char*>(to.data()) + done, static_cast<std::size_t>(bytes - done),
                               at.offset + done);
    if (count <= 0) throw ModelError{place, what + "cannot be read"};
    done += count;
  }
  make_bits(to);
  return held->second = std::move(to.freeze());
}

std::string element_type_name(int type) {
  if (type >= 0 && type < static_cast<int>(std::size(element_types))) return std::string(element_types[type].name);
  return "type " + std::to_string(type);
}

std::optional<DType> dtype_of(int type) {
  if (type < 0 || type >= static_cast<int>(std::size(element_types))) return std::nullopt;
  return dtype_named(element_types[type].dtype);
}

int element_type_of(DType dtype) {
  for (int type = 0; type < static_cast<int>(std::size(element_types)); ++type)
    if (element_types[type].dtype == name(dtype)) return type;
  return 0;
}

std::variant<Tensor, Texts> decode_tensor(const wire::Tensor& from, ExternalTensors& files, const std::string& place) {
  if (from.has_segment()) throw ModelError{place, "tensors in segments are not supported"};
  const Shape shape = shape_of(from, place);
  const std::int64_t elements = *element_count(shape);
  if (from.data_type() == text_type) {
    check_size(from, -1, elements, place);
    return Texts{shape, {from.string_data().begin(), from.string_data().end()}};
  }
  const std::optional<DType> dtype = dtype_of(from.data_type());
  if (!dtype) throw ModelError{place, "elements of " + element_type_name(from.data_type()) + " are not supported"};
  const bool external = from.data_location() == 1;
  if (!external) check_size(from, elements * static_cast<std::int64_t>(byte_size(*dtype)), elements, place);
  if (external && elements > max_constant_elements)
    throw ModelError{place, "its shape " + to_string(shape) + " has too many elements for a constant"};
  if (external) return files.read(from, place, *dtype, shape);
  Tensor to(*dtype, shape);
  if (from.has_raw_data())
    std::memcpy(to.data(), from.raw_data().data(), to.bytes());
  else
    copy_typed(from, place, to);
  make_bits(to);
  return std::move(to.freeze());
}

}  // namespace rml::onnx
