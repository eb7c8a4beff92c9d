// `rmlc compare`: a model as rmlc compiles it against ONNX Runtime, value by value in the order of its nodes.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>

#include "compiler/import_model.h"
#include "compiler/models/imported_program.h"
#include "compiler/read_file.h"
#include "driver/commands/commands.h"
#include "driver/models/onnx_runtime.h"
#include "onnx/write_model.h"

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
      // Integers are 0 or 1, because they may be indices, classes or truth values.
      const std::uint64_t bit = is_float(dtype) ? 0 : random() & 1;
      std::memcpy(static_cast<std::byte*>(t.data()) + static_cast<std::size_t>(i) * byte_size(dtype), &bit,
                  byte_size(dtype));
    }
  }
  return t;
}

// Inputs from the files of a set of ONNX's suite, or random ones.
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
    // Number of inputs whose files are given. They are numbered as in the model, including fixed
    // inputs.
    const auto fixed = std::ranges::count_if(model.fixed, [&](const onnx::FixedInput& f) { return f.before <= k; });
    const std::string number = std::to_string(k + static_cast<std::size_t>(fixed));
    const fs::path file = fs::path(request.input) / ("input_" + number + ".pb");
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

// The largest difference of two tensors, in units of the tolerance, and its place.
struct Difference {
  std::int64_t at = -1;
  double measure = 0, here = 0, there = 0;  // `measure`: error of an element relative to its limit; above 1: a failure
};

Difference difference(const Tensor& here, const Tensor& there, const CompareRequest& request) {
  Difference worst;
  // The tolerance; elements of exact types must be equal.
  const Tolerance tolerance = is_approximate(here.dtype())
                                  ? Tolerance{request.relative_tolerance, request.absolute_tolerance}
                                  : Tolerance{0, 0};
  for (std::int64_t i = 0; i < here.elements(); ++i) {
    const double a = element(here, i), b = element(there, i);
    const double measure = distance(a, b, tolerance);
    if (measure > worst.measure) worst = {i, measure, a, b};
  }
  return worst;
}

std::string number(double value) { return to_string(Tensor::scalar(DType::f64, value)); }

std::vector<NamedTensor> wanted(const onnx::Imported& model) {
  std::vector<NamedTensor> outputs;
  for (const onnx::ImportedPort& port : model.outputs)
    outputs.push_back({port.model_name, Tensor(port.dtype, port.shape)});
  return outputs;
}

}  // namespace

int compare_model(Invocation& invocation, const CompareRequest& request) {
  Session& session = invocation.session;
  session.options.model.all_values = true;
  const auto model = import_model(session, request.file, "weights.safetensors");
  if (!model) return exit_fault;
  const std::vector<NamedTensor> inputs = inputs_for(*model, request, session.diagnostics);
  if (session.failed()) return exit_fault;
  const auto program = ImportedProgram::compile(session, *model, request.file);
  if (!program) return exit_fault;
  std::string error;
  const std::optional<std::string> bytes = read_file(request.file, error);
  std::vector<NamedTensor> there = wanted(*model);
  std::vector<Tensor> here;
  std::string version;
  try {
    const OnnxRuntime runtime(request.library);
    version = runtime.version();
    // A constant of the program is still an input of the model.
    std::vector<NamedTensor> all = inputs;
    for (const onnx::FixedInput& f : model->fixed) all.push_back({f.model_name, *f.value});
    runtime.run(onnx::with_all_outputs(bytes.value_or("")), all, there);
    std::vector<const Tensor*> given;
    for (const NamedTensor& t : inputs) given.push_back(&t.value);
    here = program->run(given);
  } catch (const std::runtime_error& failed) {  // an error that rmlc or ONNX Runtime has thrown
    session.diagnostics.report(Code::E0809, {}, failed.what());
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
