// An imported model as a program in memory, run a cycle at a time on tensors; and how near is right.
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

// The program finds in the compilation's files what it loads.
void give_weights(LoadedFiles&, const onnx::Imported&);

struct ProgramStops : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ImportedProgram {
 public:
  // For this machine; null where an error was reported. `name` is that of the source in messages.
  static std::unique_ptr<ImportedProgram> compile(Session& session, const onnx::Imported& model,
                                                  const std::string& name);

  // The outputs of the next cycle, in the model's order as the inputs are. Throws ProgramStops.
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

// Element i as a number; of 64-bit integers the nearest.
double element(const Tensor&, std::int64_t i);
// Whether elements of this type may differ a little: f32 and f64.
inline bool is_approximate(DType dtype) { return has_gradient(dtype); }
// How far apart two numbers are, in units of what is allowed: above 1 is too far. NaN is near NaN alone.
double distance(double got, double want, const Tolerance& tolerance);

}  // namespace rml
