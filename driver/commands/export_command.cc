// Runs `rmlc export`, which writes a node as an ONNX model.
#include <iostream>

#include "compiler/internal_error.h"
#include "compiler/set_parameters.h"
#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "onnx/export.h"
#include "semantics/simplify/expand.h"
#include "semantics/simplify/join_updates.h"
#include "semantics/time/causality.h"

namespace rml {

int export_node(Invocation& invocation, const ExportRequest& request) {
  Session& session = invocation.session;
  const Front front = check(session, request.file);
  const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
  if (!entry) return exit_fault;
  const CurrentPhase phase("export");
  Core core = instantiate(front.checked, *entry, {.limits = session.options.limits}, session.diagnostics);
  if (!session.failed()) check_causality(core, session.diagnostics);
  if (session.failed()) return exit_fault;
  const auto prepare = [&](Core& part) {
    part = simplify(std::move(part), {});
    if (join_updates(part, session.diagnostics)) part = simplify(std::move(part), {});
    if (expand(part, onnx::is_exportable)) part = simplify(std::move(part), {});
  };
  change_bodies(core, prepare);
  prepare(core);
  if (!session.options.parameters.file.empty()) {
    core = give_parameters(std::move(core), session, session.diagnostics);
    prepare(core);
  }
  if (session.failed()) return exit_fault;
  const onnx::Exported exported = onnx::export_core(core);
  for (const onnx::ExportError& e : exported.errors) session.diagnostics.report(Code::E0808, e.span, e.message);
  if (session.failed()) return exit_fault;
  const std::string output = request.output.empty() ? core.entry + ".onnx" : request.output;
  return overwrites_none(output, session.files_read(), session.diagnostics) &&
                 write_file(output, exported.bytes, session.diagnostics)
             ? exit_success
             : exit_fault;
}

}  // namespace rml
