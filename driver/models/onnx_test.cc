// Runs cases of the suite (onnx_test.h): import, compile, run, compare.
#include "driver/models/onnx_test.h"
#include "driver/base/installation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "driver/base/crash_report.h"
#include "frontend/render.h"
#include "onnx/import.h"
#include "runtime/base/failure.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

struct Failed {
  std::string text;
};

using States = std::vector<std::pair<std::string, std::string>>;  // states of a model: names of an input and an output

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

// The inputs that are not initialisers, in order.
std::vector<std::string> input_names(const onnx::Model& model) {
  std::set<std::string> initial;
  for (const onnx::Initializer& t : model.graph.initializers) initial.insert(t.name);
  std::vector<std::string> names;
  for (const onnx::ValueInfo& v : model.graph.inputs)
    if (!initial.contains(v.name)) names.push_back(v.name);
  return names;
}

// Imports the model. Inputs whose values the program text depends on are fixed to their values in this set.
onnx::Imported import_for(const onnx::Model& model, const std::vector<std::string>& names,
                          const std::vector<Tensor>& inputs, const States& states) {
  onnx::ImportOptions options;
  options.states = states;
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

std::unique_ptr<ImportedProgram> load(const onnx::Imported& imported, const fs::path& folder) {
  Session session(own_resources());
  auto program = ImportedProgram::compile(session, imported, (folder / "model.rml").string());
  if (!program) throw Failed{render_human(session.diagnostics, session.sources, false) + imported.source};
  return program;
}

std::string difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape())
    return type_string(want.dtype(), want.shape()) + " was expected, but the result is " +
           type_string(got.dtype(), got.shape());
  if (!is_approximate(want.dtype())) {
    if (got == want) return "";
    return "elements differ: expected " + to_string(want).substr(0, 200) + ", got " + to_string(got).substr(0, 200);
  }
  std::int64_t wrong = 0, first = -1;
  for (std::int64_t i = 0; i < want.elements(); ++i) {
    if (distance(element(got, i), element(want, i), tolerance) <= 1) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(want.elements()) + " elements differ; element " +
         std::to_string(first) + ": expected " + std::to_string(element(want, first)) + ", got " +
         std::to_string(element(got, first));
}

// Compares the model with the data sets of a folder. If there are states, the program that the
// first set needs is kept for the others.
class Case {
 public:
  Case(const onnx::Model& model, const Tolerance& tolerance, const States& states)
      : model_(model), tolerance_(tolerance), states_(states), names_(input_names(model)) {}

  void run(const fs::path& set) {
    const std::vector<Tensor> inputs = read_tensors(set, "input"), expected = read_tensors(set, "output");
    if (names_.size() != inputs.size())
      throw Failed{"the model has " + std::to_string(names_.size()) + " inputs, the set " +
                   std::to_string(inputs.size())};
    if (model_.graph.outputs.size() != expected.size())
      throw Failed{"the model has " + std::to_string(model_.graph.outputs.size()) + " outputs, the set " +
                   std::to_string(expected.size())};
    if (!program_ || states_.empty()) {
      imported_ = import_for(model_, names_, inputs, states_);
      program_ = load(imported_, set.parent_path());
    }
    std::vector<const Tensor*> given;
    for (const onnx::ImportedPort& port : imported_.inputs)
      for (std::size_t k = 0; k < names_.size(); ++k)
        if (names_[k] == port.model_name) given.push_back(&inputs[k]);
    const std::vector<Tensor> outputs = program_->run(given);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::string& name = imported_.outputs[k].model_name;
      const auto at = std::ranges::find(model_.graph.outputs, name, &onnx::ValueInfo::name);
      const auto place = static_cast<std::size_t>(at - model_.graph.outputs.begin());
      const std::string what = difference(outputs[k], expected[place], tolerance_);
      if (!what.empty()) throw Failed{"output '" + name + "': " + what};
    }
  }

 private:
  const onnx::Model& model_;
  const Tolerance& tolerance_;
  const States& states_;
  std::vector<std::string> names_;
  onnx::Imported imported_;
  std::unique_ptr<ImportedProgram> program_;
};

States pairs(const std::vector<std::string>& texts) {
  States states;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw Failed{"--state " + text + ": write INPUT=OUTPUT"};
    states.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return states;
}

}  // namespace

TestResult run_onnx_test(const fs::path& folder, const Tolerance& tolerance, const std::vector<std::string>& states) {
  TestResult result;
  try {
    const onnx::Model model = onnx::read_model(folder / "model.onnx");
    const auto by_number = [](const fs::path& a, const fs::path& b) {
      return std::pair(a.string().size(), a) < std::pair(b.string().size(), b);
    };
    std::set<fs::path, decltype(by_number)> sets(by_number);
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
        sets.insert(entry.path());
    if (sets.empty()) throw Failed{"it has no test_data_set_N"};
    const States kept = pairs(states);
    Case all(model, tolerance, kept);
    for (const fs::path& set : sets) {
      try {
        all.run(set);
      } catch (const Failed& failed) {
        throw Failed{set.filename().string() + ": " + failed.text};
      } catch (const ProgramStops& stops) {
        throw Failed{set.filename().string() + ": " + stops.what()};
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
