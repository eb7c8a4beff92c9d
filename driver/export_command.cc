// `rmlc export`: a node as an ONNX model.
#include <iostream>

#include "driver/commands.h"
#include "driver/internal_error.h"
#include "driver/output_file.h"
#include "onnx/export.h"
#include "semantics/causality.h"
#include "semantics/expand.h"

namespace rml {

int export_node(Session& session, const ExportRequest& request) {
  Compilation& c = session.compilation;
  const Front front = check(c, request.file);
  const auto entry = c.failed() ? std::nullopt : find_entry(c, front);
  if (!entry) return exit_fault;
  const CurrentPhase phase("export");
  Core core = instantiate(front.checked, *entry, {.limits = c.options.limits}, c.diagnostics);
  if (!c.failed()) check_causality(core, c.diagnostics);
  if (c.failed()) return exit_fault;
  const auto prepare = [](Core& part) {
    part = simplify(std::move(part), {});
    if (expand(part, onnx::is_exportable)) part = simplify(std::move(part), {});
  };
  change_bodies(core, prepare);
  prepare(core);
  const auto value = [&](const std::string& path) -> std::shared_ptr<const Tensor> {
    if (request.parameters.empty()) return nullptr;
    // A run of a node that calls this one has saved it under this one's name.
    const auto inner = c.files->find({}, request.parameters, core.entry + "." + path);
    if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&inner)) return *tensor;
    const auto found = c.files->find({}, request.parameters, path);
    if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&found)) return *tensor;
    const auto& error = std::get<LoadError>(found);
    c.diagnostics.report(error.unreadable ? Code::E0801 : Code::E0806, {}, error.message);
    return nullptr;
  };
  const onnx::Exported exported = onnx::export_core(core, value);
  for (const onnx::ExportError& e : exported.errors) c.diagnostics.report(Code::E0808, e.span, e.message);
  if (c.failed()) return exit_fault;
  const std::string output = request.output.empty() ? core.entry + ".onnx" : request.output;
  return overwrites_none(output, c.files_read(), c.diagnostics) && write_file(output, exported.bytes, c.diagnostics)
             ? exit_success
             : exit_fault;
}

}  // namespace rml
