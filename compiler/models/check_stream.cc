// Compiles the model twice, for one step and for a sequence of `length` steps, and compares the
// outputs step by step.
//
// A sequence is split into steps along the one axis in which the shapes of a port differ. An
// output without such an axis is compared after the last step only.
#include "compiler/models/check_stream.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "compiler/models/imported_program.h"

namespace rml {
namespace {

constexpr std::int64_t length = 4;  // number of steps in the sequence

std::vector<Tensor> run(ImportedProgram& program, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> given;
  for (const Tensor& t : inputs) given.push_back(&t);
  return program.run(given);
}

// Returns the axis along which `whole` has all steps and `cycle` has one, or -1 if there is none.
std::int64_t time_axis(const Shape& whole, const Shape& cycle) {
  for (std::size_t k = 0; k < whole.size(); ++k)
    if (whole[k] != cycle[k]) return static_cast<std::int64_t>(k);
  return -1;
}

// Returns step t of `whole`, or `whole` itself if it has no time axis.
Tensor step(const Tensor& whole, const Shape& cycle, std::int64_t t) {
  const std::int64_t axis = time_axis(whole.shape(), cycle);
  if (axis < 0) return whole;
  std::size_t block = byte_size(whole.dtype());
  for (std::size_t k = static_cast<std::size_t>(axis) + 1; k < cycle.size(); ++k)
    block *= static_cast<std::size_t>(cycle[k]);
  Tensor part(whole.dtype(), cycle);
  const auto* from = static_cast<const std::byte*>(whole.data());
  auto* to = static_cast<std::byte*>(part.data());
  for (std::size_t at = 0, k = 0; at < part.bytes(); at += block, ++k)
    std::memcpy(to + at, from + (k * length + static_cast<std::size_t>(t)) * block, block);
  return part;
}

bool near(const Tensor& a, const Tensor& b) {
  constexpr Tolerance tolerance{1e-3, 1e-5};
  if (!is_approximate(a.dtype())) return a == b;
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (distance(element(a, i), element(b, i), tolerance) > 1) return false;
  return true;
}

bool same_ranks(const std::vector<onnx::ImportedPort>& a, const std::vector<onnx::ImportedPort>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x.shape.size() == y.shape.size(); });
}

}  // namespace

std::string what_mixes_steps(const onnx::Model& model, const onnx::ImportOptions& options,
                             const onnx::Imported& streamed, const Resources& resources) {
  onnx::ImportOptions of_whole = options;
  of_whole.stream->steps = length;
  of_whole.stream->cycles = false;
  const auto result = onnx::import(model, of_whole);
  const auto* whole = std::get_if<onnx::Imported>(&result);
  const std::string why = "it cannot be a stream along this axis: ";
  if (whole == nullptr || !same_ranks(whole->inputs, streamed.inputs) || !same_ranks(whole->outputs, streamed.outputs))
    return why + "it takes sequences of one length only";
  Session of_whole_model(resources), of_stream(resources);
  const auto sequence = ImportedProgram::compile(of_whole_model, *whole, "model");
  const auto cycles = ImportedProgram::compile(of_stream, streamed, "model");
  if (!sequence || !cycles) return why + "sequences of " + std::to_string(length) + " steps do not compile";
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<Tensor> inputs;
  for (const onnx::ImportedPort& p : whole->inputs) inputs.emplace_back(p.dtype, p.shape);
  for (Tensor& t : inputs)
    for (std::int64_t i = 0; i < t.elements(); ++i) {
      if (t.dtype() == DType::f32) t.as<float>()[i] = static_cast<float>(normal(random));
      if (t.dtype() == DType::f64) t.as<double>()[i] = normal(random);
    }
  try {
    const std::vector<Tensor> wanted = run(*sequence, inputs);
    for (std::int64_t t = 0; t < length; ++t) {
      std::vector<Tensor> now;
      for (std::size_t k = 0; k < inputs.size(); ++k) now.push_back(step(inputs[k], streamed.inputs[k].shape, t));
      const std::vector<Tensor> got = run(*cycles, now);
      for (std::size_t k = 0; k < got.size(); ++k) {
        const Shape& cycle = streamed.outputs[k].shape;
        if (time_axis(wanted[k].shape(), cycle) < 0 && t + 1 < length) continue;
        if (!near(got[k], step(wanted[k], cycle, t)))
          return why + "output '" + streamed.outputs[k].model_name + "' of step " + std::to_string(t) +
                 " depends on steps that are not earlier: an operator reads the whole sequence";
      }
    }
  } catch (const ProgramStops&) {
    return why + "the model stops on random inputs";
  }
  return "";
}

}  // namespace rml
