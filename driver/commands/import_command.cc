// `rmlc import`: writes an ONNX model as a source file, and its tensors beside it.
#include <iostream>

#include "compiler/import_model.h"
#include "compiler/models/imported_program.h"
#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "frontend/format.h"
#include "runtime/base/readable.h"
#include "runtime/checkpoint/safetensors.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

bool write_with_weights(const fs::path& output, const fs::path& beside, const onnx::Imported& imported,
                        Diagnostics& diagnostics) {
  std::vector<rt::TensorOut> tensors;
  for (const onnx::Weight& w : imported.weights) {
    std::vector<std::uint64_t> shape(w.value->shape().begin(), w.value->shape().end());
    tensors.push_back({w.name,
                       static_cast<std::uint8_t>(w.value->dtype()),
                       std::move(shape),
                       {{static_cast<const char*>(w.value->data()), w.value->bytes()}}});
  }
  const std::string head = rt::safetensors_head(tensors, {});
  std::vector<std::string_view> pieces{head};
  for (const rt::TensorOut& t : tensors) pieces.insert(pieces.end(), t.pieces.begin(), t.pieces.end());
  return write_together({{beside, std::move(pieces)}, {output, {imported.source}}}, diagnostics);
}

// Checks the imported program like any other. An error is the importer's fault, not the user's.
bool checked(const Session& session, const onnx::Imported& imported) {
  Session own(session.resources);
  own.options.import_folders = session.options.import_folders;
  give_weights(*own.files, imported);
  check_text(own, "imported", imported.source);
  return !own.failed();
}

std::string laid_out(const std::string& source) {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::uint32_t file = sources.add("imported", source);
  return format(file, sources, diagnostics).value_or(source);
}

}  // namespace

int import_file(Invocation& invocation, const ImportRequest& request) {
  Session& session = invocation.session;
  if (!is_model(request.file)) {
    std::cerr << readable_message("rmlc: '" + request.file +
                                  "' is not an ONNX model: its name does not end with .onnx\n");
    return exit_usage;
  }
  const fs::path output = request.output.empty() ? fs::path(request.file).stem().string() + ".rml" : request.output;
  if (output.extension() != ".rml") {
    std::cerr << readable_message("rmlc: -o " + request.output + ": a source file's name ends with .rml\n");
    return exit_usage;
  }
  const fs::path weights = fs::path(output).replace_extension(".safetensors");
  auto imported = import_model(session, request.file, weights.filename().string());
  if (!imported) return exit_fault;
  imported->source = laid_out(imported->source);
  std::vector<std::string> read = session.files_read();
  read.push_back(request.file);
  if (!overwrites_none(output, read, session.diagnostics) || !overwrites_none(weights, read, session.diagnostics))
    return exit_fault;
  if (!imported->weights.empty() && !all_replaceable({output, weights}, session.diagnostics)) return exit_fault;
  if (!checked(session, *imported)) throw std::logic_error("what was made of " + request.file + " is no program");
  const bool written = imported->weights.empty() ? write_file(output, imported->source, session.diagnostics)
                                                 : write_with_weights(output, weights, *imported, session.diagnostics);
  return written ? exit_success : exit_fault;
}

}  // namespace rml
