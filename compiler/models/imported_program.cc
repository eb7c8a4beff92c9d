// Runs the usual pipeline on the imported source, with the instruction set of this machine, and
// calls the program's table.
#include "compiler/models/imported_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/import_model.h"

namespace rml {

std::unique_ptr<ImportedProgram> ImportedProgram::compile(Session& session, const onnx::Imported& model,
                                                          const std::string& name) {
  session.options.target.cpu = "native";
  give_weights(*session.files, model);
  const Front front = check_text(session, name, model.source);
  const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
  const auto elaborated = entry ? elaborate(session, front, *entry, {}, session.diagnostics) : std::nullopt;
  const auto arranged = elaborated ? arrange(session, *elaborated, session.diagnostics) : std::nullopt;
  auto program = arranged ? load_compiled(session, lower(session, *arranged), {}) : nullptr;
  if (!program) return nullptr;
  return std::unique_ptr<ImportedProgram>(new ImportedProgram(std::move(program), model.outputs));
}

std::vector<Tensor> ImportedProgram::run(const std::vector<const Tensor*>& inputs) {
  const rml_program& program = program_->table();
  std::vector<const void*> in;
  std::vector<Tensor> outputs;
  std::vector<void*> out;
  for (const Tensor* t : inputs) in.push_back(t->data());
  for (const onnx::ImportedPort& port : outputs_) outputs.emplace_back(port.dtype, port.shape);
  for (Tensor& t : outputs) out.push_back(t.data());
  std::vector<std::uint8_t> present(std::max(in.size(), out.size()) + 1, 1);
  if (program.push(state_.block(), in.data(), present.data()) != RML_OK) {
    const rml_header& h = state_.header();
    throw ProgramStops(h.site < program.n_sites ? std::string("it stops: ") + program.sites[h.site].message
                                                : "it stops");
  }
  if (program.pop(state_.block(), out.data(), present.data()) != 1)
    throw ProgramStops("the program has not written its outputs");
  return outputs;
}

double element(const Tensor& t, std::int64_t i) {
  if (t.dtype() == DType::f32) return static_cast<double>(t.as<float>()[i]);
  if (t.dtype() == DType::f64) return t.as<double>()[i];
  const std::size_t size = byte_size(t.dtype());
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(t.data()) + static_cast<std::size_t>(i) * size, size);
  if (!is_signed(t.dtype())) return static_cast<double>(bits);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

double distance(double got, double want, const Tolerance& tolerance) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double apart = std::abs(got - want) / (tolerance.absolute + tolerance.relative * std::abs(want));
  return std::isnan(apart) ? INFINITY : apart;
}

}  // namespace rml
