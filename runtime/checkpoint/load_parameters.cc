// See load_parameters.h.
#include "runtime/checkpoint/load_parameters.h"

#include <algorithm>
#include <cstring>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/whole_file.h"
#include "runtime/failure.h"
#include "runtime/kernels/half_float.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

bool widens(std::uint8_t from, std::uint8_t to) {
  if (from == RML_F16 || from == RML_BF16) return to == RML_F32 || to == RML_F64;
  return from == RML_F32 && to == RML_F64;
}

double element(std::uint8_t dtype, const char* from) {
  if (dtype == RML_F32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return dtype == RML_F16 ? float_from_f16(bits) : float_from_bf16(bits);
}

std::vector<char> widened(const TensorIn& tensor, const rml_parameter& to) {
  const std::uint64_t size = dtype_bytes(tensor.dtype), wide = dtype_bytes(to.dtype);
  std::vector<char> bytes(to.elements * wide);
  for (std::uint64_t k = 0; k < to.elements; ++k) {
    const double value = element(tensor.dtype, tensor.data.data() + k * size);
    const auto narrow = static_cast<float>(value);
    if (to.dtype == RML_F64)
      std::memcpy(bytes.data() + k * wide, &value, wide);
    else
      std::memcpy(bytes.data() + k * wide, &narrow, wide);
  }
  return bytes;
}

// Why the tensor cannot be the parameter; empty: it can.
std::string complaint(const TensorIn& tensor, const rml_parameter& p) {
  const std::string types = "'" + tensor.name + "' is " + tensor_type_text(p.dtype, p.dims, p.rank) + " here, " +
                            tensor_type_text(tensor) + " in the file";
  const bool same_shape = std::equal(tensor.shape.begin(), tensor.shape.end(), p.dims, p.dims + p.rank);
  if (!same_shape) return types;
  if (tensor.dtype == p.dtype) {
    const bool truths = std::all_of(tensor.data.begin(), tensor.data.end(), [](char c) { return c == 0 || c == 1; });
    return p.dtype != RML_BOOL || truths ? "" : "'" + tensor.name + "' holds a Boolean that is neither true nor false";
  }
  return widens(tensor.dtype, p.dtype) ? "" : types + ", which does not convert exactly: convert it before";
}

}  // namespace

void load_parameters(const rml_program& program, void* state, const std::string& path, const std::vector<Renamed>& map,
                     GivenParameters& given) {
  const std::string bytes = read_whole_file(path);
  Safetensors file = read_safetensors(path, bytes);
  check_checksum(path, bytes, file);
  std::vector<std::string> names;
  for (const TensorIn& tensor : file.tensors) names.push_back(tensor.name);
  check_map(map, names, path);
  rename_tensors(file, path, [&](const std::string& name) { return by_map(name, map); });
  std::string problems;
  int count = 0;
  const char* last = nullptr;
  for (std::uint32_t i = 0; i < program.n_parameters; ++i) {
    const rml_parameter& p = program.parameters[i];
    if (p.slot == UINT64_MAX || (last != nullptr && std::strcmp(last, p.path) == 0)) continue;
    last = p.path;
    const TensorIn* tensor = file.find(p.path);
    if (tensor == nullptr) tensor = file.find(given_name(p.path));
    const std::string problem = tensor == nullptr ? "no parameter '" + std::string(p.path) + "' (" +
                                                        tensor_type_text(p.dtype, p.dims, p.rank) + ") in the file" +
                                                        did_you_mean(p.path, names)
                                                  : complaint(*tensor, p);
    if (!problem.empty()) {
      constexpr int most_told = 8;
      if (++count <= most_told) problems += "\n  " + problem;
    } else if (tensor->dtype == p.dtype) {
      given.give(program, state, p.path, tensor->data.data());
    } else {
      given.give(program, state, p.path, widened(*tensor, p).data());
    }
  }
  if (last == nullptr) throw Failure("--load-params " + path + ": '" + program.name + "' has no parameters");
  if (count > 0) throw Failure(path + ": not the parameters of '" + program.name + "':" + problems);
}

}  // namespace rml::rt
