// `rmlc compare`: a model as we compile it against ONNX Runtime, value by value in the order of its nodes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>

#include "driver/commands.h"
#include "driver/engines.h"
#include "driver/import_model.h"
#include "driver/onnx_runtime.h"
#include "driver/output_file.h"
#include "onnx/write_model.h"
#include "runtime/program_state.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

Tensor drawn(DType dtype, const Shape& shape, std::mt19937_64& random) {
  Tensor t(dtype, shape);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    if (dtype == DType::f32) {
      t.as<float>()[i] = static_cast<float>(normal(random));
    } else if (dtype == DType::f64) {
      t.as<double>()[i] = normal(random);
    } else {
      // 0 or 1: an index, a class, a truth.
      const std::uint64_t bit = is_float(dtype) ? 0 : random() & 1;
      std::memcpy(static_cast<std::byte*>(t.data()) + static_cast<std::size_t>(i) * byte_size(dtype), &bit,
                  byte_size(dtype));
    }
  }
  return t;
}

// Inputs by the files of a set of ONNX's suite, or at random.
std::vector<NamedTensor> inputs_for(const onnx::Imported& model, const CompareRequest& request, Diagnostics& told) {
  std::vector<NamedTensor> inputs;
  std::mt19937_64 random(request.seed);
  for (std::size_t k = 0; k < model.inputs.size(); ++k) {
    const onnx::ImportedPort& port = model.inputs[k];
    inputs.push_back({port.model_name, Tensor(port.dtype, port.shape)});
    if (request.input.empty()) {
      inputs.back().value = drawn(port.dtype, port.shape, random);
      continue;
    }
    const fs::path file = fs::path(request.input) / ("input_" + std::to_string(k) + ".pb");
    try {
      inputs.back().value = onnx::read_tensor(file);
    } catch (const onnx::ModelError& error) {
      told.report(Code::E0801, {}, file.string() + ": " + error.message);
      continue;
    }
    const Tensor& t = inputs.back().value;
    if (t.dtype() != port.dtype || t.shape() != port.shape)
      told.report(Code::E0807, {},
                  file.string() + ": it is " + type_string(t.dtype(), t.shape()) + ", the input '" + port.model_name +
                      "' is " + type_string(port.dtype, port.shape));
  }
  return inputs;
}

std::vector<Tensor> run_here(const rml_program& program, const onnx::Imported& model,
                             const std::vector<NamedTensor>& inputs) {
  const rt::ProgramState state(program, 0, 0);
  std::vector<const void*> in;
  std::vector<Tensor> results;
  std::vector<void*> out;
  for (const NamedTensor& t : inputs) in.push_back(t.value.data());
  for (const onnx::ImportedPort& port : model.outputs) results.emplace_back(port.dtype, port.shape);
  for (Tensor& t : results) out.push_back(t.data());
  std::vector<std::uint8_t> present(std::max(in.size(), out.size()) + 1, 1);
  if (program.push(state.block(), in.data(), present.data()) != RML_OK ||
      program.pop(state.block(), out.data(), present.data()) != 1)
    throw OnnxRuntimeError("the program stops");
  return results;
}

// Where two tensors differ most, in units of what is allowed; and how much.
struct Difference {
  std::int64_t at = -1;
  double measure = 0, here = 0, there = 0;  // measure above 1: too much
};

double element(const Tensor& t, std::int64_t i) {
  switch (t.dtype()) {
    case DType::f32:
      return static_cast<double>(t.as<float>()[i]);
    case DType::f64:
      return t.as<double>()[i];
    default: {
      const std::size_t size = byte_size(t.dtype());
      std::int64_t value = 0;
      std::memcpy(&value, static_cast<const std::byte*>(t.data()) + static_cast<std::size_t>(i) * size, size);
      const int unused = 64 - static_cast<int>(8 * size);
      return is_signed(t.dtype()) ? static_cast<double>(value << unused >> unused)
                                  : static_cast<double>(static_cast<std::uint64_t>(value));
    }
  }
}

Difference difference(const Tensor& here, const Tensor& there, const CompareRequest& request) {
  Difference worst;
  const bool real = here.dtype() == DType::f32 || here.dtype() == DType::f64;
  for (std::int64_t i = 0; i < here.elements(); ++i) {
    const double a = element(here, i), b = element(there, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    double measure =
        real ? std::abs(a - b) / (request.absolute_tolerance + request.relative_tolerance * std::abs(b)) : 2;
    if (std::isnan(measure)) measure = INFINITY;
    if (measure > worst.measure) worst = {i, measure, a, b};
  }
  return worst;
}

std::string number(double value) { return to_string(Tensor::scalar(DType::f64, value)); }

std::unique_ptr<LoadedProgram> compiled(Compilation& c, const onnx::Imported& model, const std::string& file) {
  for (const onnx::Weight& w : model.weights) c.files->give(model.weights_file, w.name, w.value);
  const Front front = check_text(c, file, model.source);
  const auto entry = c.failed() ? std::nullopt : find_entry(c, front);
  const auto elaborated = entry ? elaborate(c, front, *entry, {}, c.diagnostics) : std::nullopt;
  const auto arranged = elaborated ? arrange(c, *elaborated, c.diagnostics) : std::nullopt;
  return arranged ? load_compiled(c, lower(c, *arranged), {}) : nullptr;
}

std::vector<NamedTensor> wanted(const onnx::Imported& model) {
  std::vector<NamedTensor> outputs;
  for (const onnx::ImportedPort& port : model.outputs)
    outputs.push_back({port.model_name, Tensor(port.dtype, port.shape)});
  return outputs;
}

}  // namespace

int compare_model(Session& session, const CompareRequest& request) {
  Compilation& c = session.compilation;
  c.options.model.all_values = true;
  c.options.target.cpu = "native";
  const auto model = import_model(c, request.file, "weights.safetensors");
  if (!model) return exit_fault;
  const std::vector<NamedTensor> inputs = inputs_for(*model, request, c.diagnostics);
  if (c.failed()) return exit_fault;
  const auto program = compiled(c, *model, request.file);
  if (!program) return exit_fault;
  std::string error;
  const std::optional<std::string> bytes = read_file(request.file, error);
  std::vector<NamedTensor> there = wanted(*model);
  std::vector<Tensor> here;
  std::string version;
  try {
    const OnnxRuntime runtime(request.library);
    version = runtime.version();
    runtime.run(onnx::with_all_outputs(bytes.value_or("")), inputs, there);
    here = run_here(program->table(), *model, inputs);
  } catch (const OnnxRuntimeError& failed) {
    c.diagnostics.report(Code::E0809, {}, failed.what());
    return exit_fault;
  }
  Difference largest;
  std::size_t of = 0;
  for (std::size_t k = 0; k < here.size(); ++k) {
    const Difference found = difference(here[k], there[k].value, request);
    if (found.measure > largest.measure) largest = found, of = k;
    if (found.measure <= 1) continue;
    std::cout << "first difference: value '" << there[k].name << "' of " << model->outputs[k].place << ", "
              << type_string(here[k].dtype(), here[k].shape()) << ", element " << found.at << ": " << number(found.here)
              << " here, " << number(found.there) << " in ONNX Runtime " << version << "\n";
    return exit_fault;
  }
  std::cout << here.size() << " values agree with ONNX Runtime " << version;
  if (largest.at >= 0)
    std::cout << "; the largest difference is that of '" << there[of].name << "': " << number(largest.here) << " and "
              << number(largest.there);
  std::cout << "\n";
  return exit_success;
}

}  // namespace rml
