// The suite's runner (onnx_test.h): import, compile, run, compare.
#include "driver/onnx_test.h"

#include <cmath>
#include <set>

#include "driver/engines.h"
#include "driver/internal_error.h"
#include "driver/pipeline.h"
#include "frontend/render.h"
#include "onnx/import.h"
#include "runtime/failure.h"
#include "runtime/program_state.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

struct Failed {
  std::string text;
};

std::string errors_text(const onnx::ImportFailure& failure) {
  std::string text;
  for (const onnx::ModelError& e : failure.errors) text += (e.place.empty() ? "" : e.place + ": ") + e.message + "\n";
  return text;
}

std::vector<Tensor> read_tensors(const fs::path& set, const std::string& kind) {
  std::vector<Tensor> all;
  for (std::size_t k = 0;; ++k) {
    const fs::path file = set / (kind + "_" + std::to_string(k) + ".pb");
    if (!fs::exists(file)) return all;
    all.push_back(onnx::read_tensor(file));
  }
}

// The inputs that are no initialisers, in order.
std::vector<std::string> input_names(const onnx::Model& model) {
  std::set<std::string> initial;
  for (const onnx::Initializer& t : model.graph.initializers) initial.insert(t.name);
  std::vector<std::string> names;
  for (const onnx::ValueInfo& v : model.graph.inputs)
    if (!initial.contains(v.name)) names.push_back(v.name);
  return names;
}

// What the program cannot be written without knowing is fixed to its value in this set.
onnx::Imported import_for(const onnx::Model& model, const std::vector<std::string>& names,
                          const std::vector<Tensor>& inputs) {
  onnx::ImportOptions options;
  for (std::size_t k = 0; k < names.size(); ++k) options.shapes[names[k]] = inputs[k].shape();
  const auto fix = [&](const std::string& name) {
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k] == name) options.fixed[name] = std::make_shared<const Tensor>(inputs[k]);
  };
  for (;;) {
    auto result = onnx::import(model, options);
    if (auto* done = std::get_if<onnx::Imported>(&result)) return std::move(*done);
    const auto& failure = std::get<onnx::ImportFailure>(result);
    const std::size_t before = options.fixed.size();
    for (const std::string& name : failure.needed) fix(name);
    if (failure.any_needed)
      for (std::size_t k = 0; k < names.size(); ++k)
        if (!is_float(inputs[k].dtype())) fix(names[k]);
    if (options.fixed.size() == before) throw Failed{errors_text(failure)};
  }
}

std::unique_ptr<LoadedProgram> load(const onnx::Imported& imported, const fs::path& folder) {
  Compilation c;
  c.options.target.cpu = "native";
  for (const onnx::Weight& w : imported.weights) c.files->give(imported.weights_file, w.name, w.value);
  const Front front = check_text(c, (folder / "model.rml").string(), imported.source);
  const auto entry = c.failed() ? std::nullopt : find_entry(c, front);
  const auto elaborated = entry ? elaborate(c, front, *entry, {}, c.diagnostics) : std::nullopt;
  const auto arranged = elaborated ? arrange(c, *elaborated, c.diagnostics) : std::nullopt;
  auto program = arranged ? load_compiled(c, lower(c, *arranged), {}) : nullptr;
  if (!program) throw Failed{render_human(c.diagnostics, c.sources, false) + imported.source};
  return program;
}

std::vector<Tensor> run_once(const rml_program& program, const onnx::Imported& imported,
                             const std::vector<std::string>& names, const std::vector<Tensor>& inputs) {
  const rt::ProgramState state(program, 0, 0);
  std::vector<const void*> in;
  for (const onnx::ImportedPort& port : imported.inputs)
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k] == port.model_name) in.push_back(inputs[k].data());
  std::vector<Tensor> outputs;
  std::vector<void*> out;
  for (const onnx::ImportedPort& port : imported.outputs) outputs.emplace_back(port.dtype, port.shape);
  for (Tensor& t : outputs) out.push_back(t.data());
  std::vector<std::uint8_t> present(std::max(in.size(), out.size()) + 1, 1);
  if (program.push(state.block(), in.data(), present.data()) != RML_OK) {
    const rml_header& h = state.header();
    throw Failed{h.site < program.n_sites ? std::string("it stops: ") + program.sites[h.site].message : "it stops"};
  }
  if (program.pop(state.block(), out.data(), present.data()) != 1) throw Failed{"no outputs came"};
  return outputs;
}

double element(const Tensor& t, std::int64_t i) {
  return t.dtype() == DType::f64 ? t.as<double>()[i] : static_cast<double>(t.as<float>()[i]);
}

std::string difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape())
    return type_string(want.dtype(), want.shape()) + " is expected, " + type_string(got.dtype(), got.shape()) + " came";
  if (want.dtype() != DType::f32 && want.dtype() != DType::f64) {
    if (got == want) return "";
    return "elements differ: expected " + to_string(want).substr(0, 200) + ", got " + to_string(got).substr(0, 200);
  }
  std::int64_t wrong = 0, first = -1;
  for (std::int64_t i = 0; i < want.elements(); ++i) {
    const double g = element(got, i), w = element(want, i);
    const bool right = g == w || (std::isnan(g) && std::isnan(w)) ||
                       std::abs(g - w) <= tolerance.absolute + tolerance.relative * std::abs(w);
    if (right) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(want.elements()) + " elements differ; element " +
         std::to_string(first) + ": expected " + std::to_string(element(want, first)) + ", got " +
         std::to_string(element(got, first));
}

void run_set(const onnx::Model& model, const fs::path& set, const Tolerance& tolerance) {
  const std::vector<Tensor> inputs = read_tensors(set, "input"), expected = read_tensors(set, "output");
  const std::vector<std::string> names = input_names(model);
  if (names.size() != inputs.size())
    throw Failed{"the model has " + std::to_string(names.size()) + " inputs, the set " + std::to_string(inputs.size())};
  const onnx::Imported imported = import_for(model, names, inputs);
  if (expected.size() != imported.outputs.size())
    throw Failed{"the model has " + std::to_string(imported.outputs.size()) + " outputs, the set " +
                 std::to_string(expected.size())};
  const auto program = load(imported, set.parent_path());
  const std::vector<Tensor> outputs = run_once(program->table(), imported, names, inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::string what = difference(outputs[k], expected[k], tolerance);
    if (!what.empty()) throw Failed{"output '" + imported.outputs[k].model_name + "': " + what};
  }
}

}  // namespace

TestResult run_onnx_test(const fs::path& folder, const Tolerance& tolerance) {
  TestResult result;
  try {
    const onnx::Model model = onnx::read_model(folder / "model.onnx");
    std::set<fs::path> sets;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
        sets.insert(entry.path());
    if (sets.empty()) throw Failed{"it has no test_data_set_N"};
    for (const fs::path& set : sets) {
      try {
        run_set(model, set, tolerance);
      } catch (const Failed& failed) {
        throw Failed{set.filename().string() + ": " + failed.text};
      }
    }
    result.passed = true;
  } catch (const Failed& failed) {
    result.text = failed.text;
  } catch (const onnx::ModelError& error) {
    result.text = (error.place.empty() ? "" : error.place + ": ") + error.message;
  } catch (const rt::Failure& failure) {
    result.text = failure.what();
  } catch (const std::exception& e) {
    result.text = internal_error_text(e.what());
  }
  return result;
}

}  // namespace rml
