// Fuzzes the reader of ONNX models and the importer: any bytes must give a program or a
// ModelError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const rml::onnx::Model model = rml::onnx::decode_model({reinterpret_cast<const char*>(data), size}, "/nowhere");
    rml::onnx::import(model, {});
  } catch (const rml::onnx::ModelError&) {
  }
  return 0;
}
