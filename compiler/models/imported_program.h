// Compiles an imported model in memory and runs it on tensors, cycle by cycle. Also compares
// results within a tolerance.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/engines.h"
#include "compiler/pipeline.h"
#include "onnx/import.h"
#include "runtime/run/program_state.h"

namespace rml {

struct ProgramStops : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ImportedProgram {
 public:
  // Compiles for this machine. Returns null if an error was reported. `name` is the name of the
  // source in messages.
  static std::unique_ptr<ImportedProgram> compile(Session& session, const onnx::Imported& model,
                                                  const std::string& name);

  // Returns the outputs of the next cycle. Inputs and outputs are in the order of the model.
  // Throws ProgramStops.
  std::vector<Tensor> run(const std::vector<const Tensor*>& inputs);

 private:
  ImportedProgram(std::unique_ptr<LoadedProgram> program, std::vector<onnx::ImportedPort> outputs)
      : program_(std::move(program)), state_(program_->table(), 0, 0), outputs_(std::move(outputs)) {}

  std::unique_ptr<LoadedProgram> program_;
  rt::ProgramState state_;
  std::vector<onnx::ImportedPort> outputs_;
};

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

// Returns element i as a double; a 64-bit integer is rounded to the nearest one.
double element(const Tensor&, std::int64_t i);
// True for f32 and f64, whose elements may differ slightly from the expected ones.
inline bool is_approximate(DType dtype) { return has_gradient(dtype); }
// Returns the distance of two numbers in units of the tolerance; above 1 is too far. NaN is near
// NaN only.
double distance(double got, double want, const Tolerance& tolerance);

}  // namespace rml
